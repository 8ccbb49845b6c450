"""Two faces, the command line and the app, over one service layer."""
