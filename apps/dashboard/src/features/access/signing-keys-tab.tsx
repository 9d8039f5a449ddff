import { IconPlus, IconSignature } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { EmptyState } from "../../shared/components/empty-state.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";
import { CreateSigningKeyDialog } from "./create-signing-key-dialog.tsx";
import classes from "./keys.module.css";
import { SigningKeyList } from "./signing-key-list.tsx";
import { signingKeysQuery } from "./signing-key-queries.ts";
import { TokenSample } from "./token-sample.tsx";

const text = strings.access.signingKeys;

/** The signing keys for viewers' tokens. */
export function SigningKeysTab() {
  const keys = useQuery(signingKeysQuery);
  return (
    <>
      <header className={classes.header}>
        <p className="quiet">{text.lead}</p>
        <DialogButton
          label={text.create}
          leftSection={<IconPlus size={16} aria-hidden />}
          dialog={(close) => <CreateSigningKeyDialog onClose={close} />}
        />
      </header>
      <QueryProblem error={keys.error} />
      {!keys.data && !keys.error && <p className="quiet">{strings.app.loading}</p>}
      {keys.data?.length === 0 && <EmptyState icon={<IconSignature size={24} />} {...text.empty} />}
      {keys.data && keys.data.length > 0 && <SigningKeyList keys={keys.data} />}
      <TokenSample />
    </>
  );
}
