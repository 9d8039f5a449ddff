import type { NewPerson, Person, PersonPatch } from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import type { ListOptions, Page } from "./page.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** Users of the dashboard, who sign in with a password: `/api/person`. From a signed-in dashboard session only. */
export class People {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Add a user. */
  add(person: NewPerson, options: CallOptions = {}): Promise<Person> {
    return call(this.#transport, "POST /api/person", { ...options, body: person });
  }

  /** One page of users. */
  list(options: ListOptions = {}): Promise<Page<Person>> {
    const [given, query] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/person", { ...given, query });
  }

  /** Set a password; the user's other sessions end. A user who signed in with a password must give the current one, and can change only their own. */
  setPassword(id: string, change: PersonPatch, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PATCH /api/person/:id", { ...options, params: { id }, body: change });
  }

  /** Remove a user; their sessions end at once. */
  remove(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/person/:id", { ...options, params: { id } });
  }
}
