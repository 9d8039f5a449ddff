import type { NewPerson, Person, PersonPatch } from "@weir/contract";
import { fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Who may sign in to the dashboard with a password: `/api/person`. By the dashboard's sign-in only. */
export class People {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  add(person: NewPerson, call: CallOptions = {}): Promise<Person> {
    return this.#transport.json("POST", "/api/person", { ...call, body: person });
  }

  list({ limit, cursor, signal }: ListOptions = {}): Promise<Page<Person>> {
    return fetchPage(this.#transport, "/api/person", { limit, cursor }, { signal });
  }

  /** Their other sign-ins end. Who is signed in with a password gives the present one, and changes their own alone. */
  async setPassword(id: string, change: PersonPatch, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("PATCH", pathOf(id), { ...call, body: change });
  }

  /** Their sign-ins end at once. */
  async remove(id: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", pathOf(id), call);
  }
}

function pathOf(id: string): string {
  return `/api/person/${encodeURIComponent(id)}`;
}
