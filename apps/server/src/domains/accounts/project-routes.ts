import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, BadRequest, found, NotFound } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import {
  changeProject,
  countProjects,
  deleteProject,
  findProject,
  insertProject,
  listProjects,
  MAX_PROJECTS,
  projectInUse,
} from "./project-store.ts";

/** Projects: read with their keys, changed from a signed-in dashboard session. */
export function projectRoutes(app: FastifyInstance, deps: Deps): void {
  const { db, clock } = deps;
  const api = new ApiRoutes(app, deps);

  api.on(routes.listProjects, async ({ principal }) => listProjects(db, principal));

  api.on(routes.getProject, async ({ principal, id }) => found(await findProject(db, principal, id)));

  api.on(routes.createProject, async ({ principal, body }) => {
    if ((await countProjects(db, principal)) >= MAX_PROJECTS)
      throw new BadRequest(`an account has at most ${MAX_PROJECTS} projects: delete one first`);
    return insertProject(db, principal, body.name, clock.now());
  });

  api.on(routes.patchProject, async ({ principal, id, body }) => {
    const project = found(await findProject(db, principal, id));
    if (!(await changeProject(db, principal, id, { ...project, ...body }))) throw new NotFound();
  });

  api.on(routes.deleteProject, async ({ principal, id }) => {
    found(await findProject(db, principal, id));
    if (id === principal.keyProjectId)
      throw projectInUse("you are signed in to this project: sign in with an API key of another one to delete it");
    await db.transaction().execute((trx) => deleteProject(trx, principal, id, clock.now()));
  });
}
