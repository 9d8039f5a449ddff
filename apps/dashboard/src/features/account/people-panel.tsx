import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { DashboardSession, Person } from "@weir/contract";
import { useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Moment } from "../../components/moment.tsx";
import { Panel } from "../../components/panel.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import { AddPersonDialog } from "./add-person-dialog.tsx";
import { PasswordDialog } from "./password-dialog.tsx";
import classes from "./people-panel.module.css";
import { peopleQuery, useRemovePerson } from "./people-queries.ts";

const text = strings.account.people;

/** Who may sign in with a name and a password. */
export function PeoplePanel({ session }: { readonly session: DashboardSession }) {
  const people = useQuery(peopleQuery);
  const [isAdding, setAdding] = useState(false);
  return (
    <Panel title={text.title} hint={text.hint}>
      <QueryProblem error={people.error} />
      {people.data?.length === 0 && <p>{text.empty}</p>}
      {people.data && people.data.length > 0 && (
        <ul className={classes.people}>
          {people.data.map((person) => (
            <PersonLine key={person.id} person={person} session={session} />
          ))}
        </ul>
      )}
      <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
        {text.add}
      </Button>
      {isAdding && <AddPersonDialog onClose={() => setAdding(false)} />}
    </Panel>
  );
}

interface LineProps {
  readonly person: Person;
  readonly session: DashboardSession;
}

function PersonLine({ person, session }: LineProps) {
  const [asking, setAsking] = useState<"password" | "remove" | null>(null);
  const isSelf = person.id === session.personId;
  // Who is signed in as a person sets their own password alone; with an API key, anybody's.
  const maySetPassword = isSelf || session.personId === undefined;
  const close = (): void => setAsking(null);
  return (
    <li className={classes.person}>
      <div className={classes.who}>
        <strong>{person.name}</strong> {isSelf && <span className="quiet">{text.you}</span>}
        <p className="quiet">
          {text.lastSeen}: {person.lastSeen === undefined ? strings.actions.never : <Moment at={person.lastSeen} />}
        </p>
      </div>
      {maySetPassword && (
        <Button size="compact-sm" variant="default" onClick={() => setAsking("password")}>
          {text.setPassword}
        </Button>
      )}
      {!isSelf && (
        <Button size="compact-sm" variant="default" onClick={() => setAsking("remove")}>
          {text.remove}
        </Button>
      )}
      {asking === "password" && <PasswordDialog person={person} isSelf={isSelf} onClose={close} />}
      {asking === "remove" && <RemoveDialog person={person} onClose={close} />}
    </li>
  );
}

function RemoveDialog({ person, onClose }: { readonly person: Person; readonly onClose: () => void }) {
  const remove = useRemovePerson(person.id);
  return (
    <ConfirmDialog
      opened
      title={text.removeAsk.title(person.name)}
      body={text.removeAsk.body}
      confirm={text.removeAsk.confirm}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
