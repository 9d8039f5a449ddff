const NOT_FOR_PAGES =
  "This API key was not made for pages of this origin, so the server refuses it here. Everybody who opens the page can read the key: delete it if it has full access. Use a key with this origin among its allowed origins, or a client whose baseUrl is a route of your own server that adds the key.";

interface Refusal {
  readonly status: number;
  readonly message: string;
}

const isRefusal = (error: unknown): error is Refusal =>
  typeof error === "object" && error !== null && "status" in error && "message" in error;

/** What to tell of a failed call; says what to do where a key was refused because it is in a web page. */
export function explained(error: unknown): Error {
  if (isRefusal(error) && error.status === 403 && error.message.startsWith("credential disallows CORS access"))
    return new Error(NOT_FOR_PAGES, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

/** Whether the same call may work later: the server was not reached, was busy or failed. */
export const mayHeal = (error: unknown): boolean =>
  isRefusal(error) && (error.status === 0 || error.status === 429 || error.status >= 500);
