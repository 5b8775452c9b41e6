"""What everything stands on: connections, errors, settings, values, the schema."""
