import type { Task } from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Tasks: imports, uploads, transcodes and clips as work in progress, `/api/task`. */
export class Tasks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Get a task, such as that of an upload. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<Task> {
    return call(this.#transport, "GET /api/task/:id", { ...options, params: { id } });
  }

  /** One page, newest first. */
  list({ limit, cursor, ...options }: ListOptions = {}): Promise<Page<Task>> {
    return fetchPage(this.#transport, "GET /api/task", { ...options, query: { limit, cursor } });
  }

  /** Every task, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<Task, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Retry a failed or cancelled task. Throws WeirError 422 for any other. */
  retry(id: string, options: CallOptions = {}): Promise<Task> {
    return call(this.#transport, "POST /api/task/:id/retry", { ...options, params: { id } });
  }
}
