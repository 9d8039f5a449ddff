import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { DashboardSession } from "@weir/contract";
import { useEffect } from "react";
import { chooseProject, chosenProject } from "../../shared/lib/chosen-project.ts";
import { strings } from "../../shared/strings.ts";
import { projectsQuery, shownProject } from "./project-queries.ts";

/** Switches between projects; nothing where there is only one. */
export function ProjectSelect({ session }: { readonly session: DashboardSession }) {
  const { data: projects = [], isSuccess } = useQuery(projectsQuery);
  const chosen = chosenProject();
  const isGone = isSuccess && chosen !== null && !projects.some(({ id }) => id === chosen);
  useEffect(() => {
    // Deleted meanwhile, or another account signed in.
    if (isGone) chooseProject(null);
  }, [isGone]);
  if (projects.length < 2) return null;
  return (
    <NativeSelect
      size="xs"
      aria-label={strings.account.projects.switch}
      value={shownProject(session)}
      data={projects.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(event) => chooseProject(event.currentTarget.value)}
    />
  );
}
