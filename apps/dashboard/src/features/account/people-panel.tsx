import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { DashboardSession, Person } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";
import { AddPersonDialog } from "./add-person-dialog.tsx";
import { PasswordDialog } from "./password-dialog.tsx";
import classes from "./people-panel.module.css";
import { peopleQuery, useRemovePerson } from "./people-queries.ts";

const text = strings.account.people;

/** The people who can sign in with a name and a password. */
export function PeoplePanel({ session }: { readonly session: DashboardSession }) {
  const people = useQuery(peopleQuery);
  return (
    <Panel title={text.title} hint={text.hint}>
      <QueryProblem error={people.error} />
      {people.data?.length === 0 && <p>{text.empty}</p>}
      {people.data && people.data.length > 0 && (
        <ul>
          {people.data.map((person) => (
            <PersonLine key={person.id} person={person} session={session} />
          ))}
        </ul>
      )}
      <DialogButton
        variant="default"
        label={text.add}
        leftSection={<IconPlus size={16} aria-hidden />}
        dialog={(close) => <AddPersonDialog onClose={close} />}
      />
    </Panel>
  );
}

interface LineProps {
  readonly person: Person;
  readonly session: DashboardSession;
}

function PersonLine({ person, session }: LineProps) {
  const remove = useRemovePerson(person.id);
  const isSelf = person.id === session.personId;
  // A person sets only their own password. A sign-in with an API key sets anybody's.
  const maySetPassword = isSelf || session.personId === undefined;
  return (
    <li className={classes.person}>
      <div className={classes.who}>
        <strong>{person.name}</strong> {isSelf && <span className="quiet">{text.you}</span>}
        <p className="quiet">
          {text.lastSeen}: {person.lastSeen === undefined ? strings.actions.never : <Moment at={person.lastSeen} />}
        </p>
      </div>
      {maySetPassword && (
        <DialogButton
          size="compact-sm"
          variant="default"
          label={text.setPassword}
          dialog={(close) => <PasswordDialog person={person} isSelf={isSelf} onClose={close} />}
        />
      )}
      {!isSelf && (
        <ConfirmButton
          size="compact-sm"
          label={text.remove}
          ask={text.removeAsk}
          name={person.name}
          change={remove}
          onConfirm={(close) => remove.mutate(undefined, { onSuccess: close })}
        />
      )}
    </li>
  );
}
