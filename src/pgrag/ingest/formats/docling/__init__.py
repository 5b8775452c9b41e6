"""PDF by Docling, which reads pages by models: an extra for whoever has them."""
