import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, BadRequest, NotFound } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import {
  changeProject,
  countProjects,
  deleteProject,
  findProject,
  insertProject,
  listProjects,
  MAX_PROJECTS,
  ProjectInUse,
} from "./project-store.ts";

/** Projects: read with their keys, changed from a signed-in dashboard session. */
export function projectRoutes(app: FastifyInstance, deps: Deps): void {
  const { db, clock } = deps;
  const api = new ApiRoutes(app, deps);

  api.on(routes.listProjects, async ({ principal }) => listProjects(db, principal));

  api.on(routes.getProject, async ({ principal, id }) => {
    const project = await findProject(db, principal, id);
    if (!project) throw new NotFound();
    return project;
  });

  api.on(routes.createProject, async ({ principal, body }) => {
    if ((await countProjects(db, principal)) >= MAX_PROJECTS)
      throw new BadRequest(`an account has at most ${MAX_PROJECTS} projects: delete one first`);
    return insertProject(db, principal, body.name, clock.now());
  });

  api.on(routes.patchProject, async ({ principal, id, body }) => {
    const project = await findProject(db, principal, id);
    if (!project || !(await changeProject(db, principal, id, { ...project, ...body }))) throw new NotFound();
  });

  api.on(routes.deleteProject, async ({ principal, id }) => {
    if (!(await findProject(db, principal, id))) throw new NotFound();
    if (id === principal.keyProjectId)
      throw new ProjectInUse("you are signed in to this project: sign in with an API key of another one to delete it");
    await db.transaction().execute((trx) => deleteProject(trx, principal, id, clock.now()));
  });
}
