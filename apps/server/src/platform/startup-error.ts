/** Weir cannot start, for a reason its operator can act on. The message is one whole line: what happened, to which thing, what to do. */
export class StartupError extends Error {
  readonly code = "startup";
}
