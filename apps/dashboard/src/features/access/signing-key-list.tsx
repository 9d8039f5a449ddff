import type { SigningKey } from "@weir/contract";
import { CopyButton } from "../../shared/components/copy-button.tsx";
import { LastMoment, Moment } from "../../shared/components/moment.tsx";
import { StateLabel } from "../../shared/components/state-label.tsx";
import classes from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { strings } from "../../shared/strings.ts";
import page from "./keys.module.css";
import { SigningKeyActions } from "./signing-key-actions.tsx";

const text = strings.access.signingKeys;

export function SigningKeyList({ keys }: { readonly keys: readonly SigningKey[] }) {
  return (
    <TableOrCards
      items={keys}
      narrow="60em"
      columns={[
        { name: text.columns.name, cell: ({ name }) => <strong>{name}</strong> },
        { name: text.columns.state, cell: (key) => <State signingKey={key} /> },
        { name: text.columns.publicKey, cell: (key) => <PublicKey signingKey={key} /> },
        { name: text.columns.created, cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { name: text.columns.lastUsed, cell: ({ lastSeen }) => <LastMoment at={lastSeen} /> },
        { name: "", cell: (key) => <SigningKeyActions signingKey={key} /> },
      ]}
      card={(key) => (
        <>
          <div className={classes.cardHead}>
            <strong>{key.name}</strong>
            <State signingKey={key} />
          </div>
          <div className={classes.cardLine}>
            <span className="quiet">
              {text.columns.lastUsed}: <LastMoment at={key.lastSeen} />
            </span>
            <PublicKey signingKey={key} />
          </div>
          <SigningKeyActions signingKey={key} />
        </>
      )}
    />
  );
}

interface Props {
  readonly signingKey: SigningKey;
}

function State({ signingKey: { disabled } }: Props) {
  return <StateLabel tone={disabled ? "failure" : "quiet"}>{text.states[disabled ? "disabled" : "active"]}</StateLabel>;
}

/** Every public key of this kind begins alike; its end distinguishes it. */
function PublicKey({ signingKey: { name, publicKey } }: Props) {
  const pem = atob(publicKey).trim().split("\n");
  return (
    <span className={page.key}>
      <code>…{pem.at(-2)?.slice(-12)}</code>
      <CopyButton value={publicKey} what={text.publicKey(name)} />
    </span>
  );
}
