import { queryOptions } from "@tanstack/react-query";
import type { DashboardSession, Project } from "@weir/contract";
import { useChange } from "../../shared/lib/change.ts";
import { chosenProject } from "../../shared/lib/chosen-project.ts";
import { weir } from "../../shared/lib/weir.ts";

const PROJECTS = ["projects"];

export const projectsQuery = queryOptions({
  queryKey: PROJECTS,
  queryFn: ({ signal }) => weir.projects.list({ signal }),
  staleTime: 60_000,
});

export function useCreateProject() {
  return useChange(PROJECTS, (name: string) => weir.projects.create({ name }));
}

export function useRenameProject(id: string) {
  return useChange(PROJECTS, (name: string) => weir.projects.patch(id, { name }));
}

export function useKeepOriginalsForKeys(id: string) {
  return useChange(PROJECTS, (originalsForKeysOnly: boolean) => weir.projects.patch(id, { originalsForKeysOnly }));
}

/** The project that is shown. */
export const shownProject = ({ projectId }: DashboardSession): Project["id"] => chosenProject() ?? projectId;
