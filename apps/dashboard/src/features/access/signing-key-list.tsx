import { useMediaQuery } from "@mantine/hooks";
import type { SigningKey } from "@weir/contract";
import { CopyButton } from "../../components/copy-button.tsx";
import { Moment } from "../../components/moment.tsx";
import { StateLabel } from "../../components/state-label.tsx";
import classes from "../../components/table.module.css";
import { strings } from "../../strings.ts";
import page from "./access-page.module.css";
import { SigningKeyActions } from "./signing-key-actions.tsx";

const text = strings.access.signingKeys;

/** A table on wide screens, cards on phones. */
export function SigningKeyList({ keys }: { readonly keys: readonly SigningKey[] }) {
  const narrow = useMediaQuery("(max-width: 60em)", undefined, { getInitialValueInEffect: false });
  return narrow ? <SigningKeyCards keys={keys} /> : <SigningKeyTable keys={keys} />;
}

function SigningKeyTable({ keys }: { readonly keys: readonly SigningKey[] }) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{text.columns.name}</th>
          <th scope="col">{text.columns.state}</th>
          <th scope="col">{text.columns.publicKey}</th>
          <th scope="col">{text.columns.created}</th>
          <th scope="col">{text.columns.lastUsed}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              <strong>{key.name}</strong>
            </td>
            <td>
              <State signingKey={key} />
            </td>
            <td>
              <PublicKey signingKey={key} />
            </td>
            <td>
              <Moment at={key.createdAt} />
            </td>
            <td>
              <LastUsed signingKey={key} />
            </td>
            <td>
              <SigningKeyActions signingKey={key} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function SigningKeyCards({ keys }: { readonly keys: readonly SigningKey[] }) {
  return (
    <ul className={classes.cards}>
      {keys.map((key) => (
        <li key={key.id} className={classes.card}>
          <div className={classes.cardHead}>
            <strong>{key.name}</strong>
            <State signingKey={key} />
          </div>
          <div className={classes.cardLine}>
            <span className="quiet">
              {text.columns.lastUsed}: <LastUsed signingKey={key} />
            </span>
            <PublicKey signingKey={key} />
          </div>
          <SigningKeyActions signingKey={key} />
        </li>
      ))}
    </ul>
  );
}

interface Props {
  readonly signingKey: SigningKey;
}

function State({ signingKey: { disabled } }: Props) {
  return <StateLabel tone={disabled ? "failure" : "quiet"}>{text.states[disabled ? "disabled" : "active"]}</StateLabel>;
}

/** Every public key of this kind begins alike; its end tells it from others. */
function PublicKey({ signingKey: { name, publicKey } }: Props) {
  const pem = atob(publicKey).trim().split("\n");
  return (
    <span className={page.key}>
      <code>…{pem.at(-2)?.slice(-12)}</code>
      <CopyButton value={publicKey} what={text.publicKey(name)} />
    </span>
  );
}

function LastUsed({ signingKey: { lastSeen } }: Props) {
  return lastSeen ? <Moment at={lastSeen} /> : <span className="quiet">{strings.actions.never}</span>;
}
