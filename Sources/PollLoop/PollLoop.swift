// PollLoop
