import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import classes from "./access-page.module.css";
import { CreateSigningKeyDialog } from "./create-signing-key-dialog.tsx";
import { SigningKeyList } from "./signing-key-list.tsx";
import { signingKeysQuery } from "./signing-key-queries.ts";
import { TokenSample } from "./token-sample.tsx";

const text = strings.access.signingKeys;

/** What viewers' tokens are signed with. */
export function SigningKeysTab() {
  const keys = useQuery(signingKeysQuery);
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <header className={classes.header}>
        <p className="quiet">{text.lead}</p>
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          {text.create}
        </Button>
      </header>
      <QueryProblem error={keys.error} />
      {!keys.data && !keys.error && <p className="quiet">{strings.app.loading}</p>}
      {keys.data?.length === 0 && <p>{text.empty}</p>}
      {keys.data && keys.data.length > 0 && <SigningKeyList keys={keys.data} />}
      <TokenSample />
      {isCreating && <CreateSigningKeyDialog onClose={() => setCreating(false)} />}
    </>
  );
}
