"""What to pass, whom to mind and what to give as a goal in Llama Llama: a study with its report."""
