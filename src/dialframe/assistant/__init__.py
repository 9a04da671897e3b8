"""The assistant-tool server: the service's operations and our analyses as tools (Model Context Protocol)."""
