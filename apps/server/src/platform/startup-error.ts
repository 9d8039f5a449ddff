/** Weir cannot start, for a reason that its operator can fix. The message is one complete line: what happened, to which thing, what to do. */
export class StartupError extends Error {
  readonly code = "startup";
}
