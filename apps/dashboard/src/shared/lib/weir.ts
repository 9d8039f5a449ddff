import { WeirClient } from "@weir/client";
import { addressIn, chosenProject } from "./chosen-project.ts";

/** The server that delivered this page, by its sign-in cookie, in the chosen project. */
export const weir = new WeirClient({
  baseUrl: "",
  // The page's queries retry by themselves, and show that the server is away.
  maxRetries: 0,
  fetch: (address, init) => fetch(addressIn(chosenProject(), pathOf(String(address))), init),
});

/** The host of the server's public address, as uploads have it, may not work from here; the path does. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address, window.location.href);
  return pathname + search;
}
