"""PDF by Docling, which reads pages by models, which need a package of their own."""
