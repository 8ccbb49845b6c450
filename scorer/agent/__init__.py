"""An agent that selects its thoughts, or makes them: its actions, tools, turns, and how its answers are judged."""
