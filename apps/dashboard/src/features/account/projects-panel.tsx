import { Button, Checkbox, Modal, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { DashboardSession, Project } from "@weir/contract";
import { useState } from "react";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { RenameButton } from "../../shared/components/rename-button.tsx";
import { chooseProject } from "../../shared/lib/chosen-project.ts";
import { strings } from "../../shared/strings.ts";
import classes from "./people-panel.module.css";
import {
  projectsQuery,
  shownProject,
  useCreateProject,
  useKeepOriginalsForKeys,
  useRenameProject,
} from "./project-queries.ts";

const text = strings.account.projects;

/** The projects of the account, and which of them is shown. */
export function ProjectsPanel({ session }: { readonly session: DashboardSession }) {
  const projects = useQuery(projectsQuery);
  return (
    <Panel title={text.title} hint={text.hint}>
      <QueryProblem error={projects.error} />
      <ul>
        {projects.data?.map((project) => (
          <ProjectLine key={project.id} project={project} isShown={project.id === shownProject(session)} />
        ))}
      </ul>
      <DialogButton
        variant="default"
        label={text.create}
        leftSection={<IconPlus size={16} aria-hidden />}
        dialog={(close) => <CreateProjectDialog onClose={close} />}
      />
    </Panel>
  );
}

function ProjectLine({ project, isShown }: { readonly project: Project; readonly isShown: boolean }) {
  const rename = useRenameProject(project.id);
  const originals = useKeepOriginalsForKeys(project.id);
  return (
    <li className={classes.person}>
      <div className={classes.who}>
        <strong>{project.name}</strong> {isShown && <span className="quiet">{text.shown}</span>}
        <Checkbox
          mt={4}
          size="xs"
          label={text.originals}
          title={text.originalsHint}
          aria-label={text.originalsOf(project.name)}
          checked={originals.isPending ? originals.variables : project.originalsForKeysOnly}
          disabled={originals.isPending}
          onChange={(event) => originals.mutate(event.currentTarget.checked)}
        />
        <QueryProblem error={originals.error} />
      </div>
      {!isShown && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={text.openOne(project.name)}
          onClick={() => chooseProject(project.id)}
        >
          {text.open}
        </Button>
      )}
      <RenameButton
        size="compact-sm"
        label={text.rename}
        name={project.name}
        text={text.renaming}
        change={rename}
        onRename={(name, close) => rename.mutate(name, { onSuccess: close })}
      />
    </li>
  );
}

function CreateProjectDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useCreateProject();
  return (
    <Modal opened onClose={onClose} title={text.create}>
      <DialogForm
        submit={text.create}
        ready={name.trim() !== ""}
        busy={create.isPending}
        error={create.error}
        onSubmit={() => create.mutate(name.trim(), { onSuccess: onClose })}
      >
        <TextInput
          label={text.renaming.name}
          maxLength={500}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
      </DialogForm>
    </Modal>
  );
}
