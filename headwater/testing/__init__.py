"""SQL tests with stream verbs, for users' projects and for Headwater itself."""
