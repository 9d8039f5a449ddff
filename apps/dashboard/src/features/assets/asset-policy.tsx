import { Button } from "@mantine/core";
import type { Asset } from "@weir/contract";
import { type FormEvent, useState } from "react";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { ShowAsCode } from "../../shared/components/show-as-code.tsx";
import { strings } from "../../shared/strings.ts";
import { draftOf, policyOf, problemsOf } from "../policy/policy.ts";
import { PolicyFields } from "../policy/policy-fields.tsx";
import classes from "./asset-panels.module.css";
import { usePatchAsset } from "./asset-queries.ts";

const text = strings.assets;

/** The access rules of an asset. While the person types nothing, the form follows the server. */
export function AssetPolicy({ asset }: { readonly asset: Asset }) {
  const saved = draftOf(asset.playbackPolicy);
  const [typed, setTyped] = useState<typeof saved | null>(null);
  const patch = usePatchAsset(asset.id);
  const draft = typed ?? saved;
  const isChanged = typed !== null && JSON.stringify(typed) !== JSON.stringify(saved);
  const problems = problemsOf(draft);
  if (asset.status.phase !== "ready") return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    patch.mutate({ playbackPolicy: policyOf(draft) }, { onSuccess: () => setTyped(null) });
  };
  return (
    <Panel title={text.page.policy} hint={text.page.policyHint}>
      <form className={classes.form} onSubmit={submit}>
        <PolicyFields
          draft={draft}
          problems={problems}
          types={saved.type === "public" ? ["public"] : ["jwt", "webhook"]}
          onDraft={setTyped}
        />
        {patch.error && <Note tone="failure">{patch.error.message}</Note>}
        <ShowAsCode call={(weir) => weir.assets.patch(asset.id, { playbackPolicy: policyOf(draft) })} />
        <div className={page.actions}>
          <Button type="submit" loading={patch.isPending} disabled={!isChanged || Object.keys(problems).length > 0}>
            {strings.actions.save}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
