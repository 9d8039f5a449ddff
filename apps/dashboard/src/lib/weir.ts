import { WeirClient } from "@weir/client";
import { addressIn, chosenProject } from "./chosen-project.ts";

/** The server that delivered this page, by its sign-in cookie, in the chosen project. */
export const weir = new WeirClient({
  baseUrl: "",
  fetch: (address, init) => fetch(addressIn(chosenProject(), String(address)), init),
});
