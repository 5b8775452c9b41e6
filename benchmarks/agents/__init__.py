"""What agents gather from documentation: scripted ones, with pgrag and with its alternatives."""
