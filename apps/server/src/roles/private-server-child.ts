/** Loaded before a server that a command starts: it ends with the command, in whatever way that ends. The end closes the channel between the two. */
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
