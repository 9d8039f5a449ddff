import type { NewProject, Project, ProjectPatch } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/**
 * Projects of the account, which separate streams, keys and webhooks from each other: `/api/project`. A key can read only its own project;
 * changes need a dashboard session.
 */
export class Projects {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All projects that the caller can see. */
  list(options: CallOptions = {}): Promise<Project[]> {
    return call(this.#transport, "GET /api/project", options);
  }

  /** Get a project. Throws WeirError 404 for an unknown one, and for another one than the key's. */
  get(id: string, options: CallOptions = {}): Promise<Project> {
    return call(this.#transport, "GET /api/project/:id", { ...options, params: { id } });
  }

  /** Create a project. */
  create(project: NewProject, options: CallOptions = {}): Promise<Project> {
    return call(this.#transport, "POST /api/project", { ...options, body: project });
  }

  /** Rename a project. Throws WeirError 404 for an unknown one. */
  patch(id: string, change: ProjectPatch, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PATCH /api/project/:id", { ...options, params: { id }, body: change });
  }

  /** Delete a project and its API keys. Throws WeirError 409 while it has streams. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/project/:id", { ...options, params: { id } });
  }
}
