import { NativeSelect } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconMovie } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { allUploads } from "../../features/assets/all-uploads.ts";
import { assetsQuery } from "../../features/assets/asset-queries.ts";
import { assetSearch, PHASES } from "../../features/assets/asset-search.ts";
import { AssetTable } from "../../features/assets/asset-table.tsx";
import { DropZone } from "../../features/assets/drop-zone.tsx";
import { UploadButton } from "../../features/assets/upload-button.tsx";
import { UploadList } from "../../features/assets/upload-list.tsx";
import { EmptyState } from "../../shared/components/empty-state.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import { NoMatch } from "../../shared/components/no-match.tsx";
import page from "../../shared/components/page.module.css";
import { PageLinks } from "../../shared/components/page-links.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { SearchBox } from "../../shared/components/search-box.tsx";
import { ShowAsCode } from "../../shared/components/show-as-code.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./assets-page.module.css";

const text = strings.assets;
const route = getRouteApi("/app/assets");
/** A policy by webhook needs more than its name; the asset's page has it. */
const POLICIES = ["public", "jwt"] as const;
/** What uploads say of the file that came; nothing for what the server is set to. */
const originals = { default: {}, keep: { keepOriginal: true }, remove: { keepOriginal: false } } as const;
const ORIGINALS = ["default", "keep", "remove"] as const;

/** Every asset, and the uploads of new ones: by a button, or dropped anywhere. */
export function AssetsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const assets = useQuery(assetsQuery(search));
  const [policy, setPolicy] = useState<(typeof POLICIES)[number]>("public");
  const [original, setOriginal] = useState<(typeof ORIGINALS)[number]>("default");
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  const { cursor, ...filters } = search;
  const isNarrowed = search.name !== undefined || search.phase !== undefined;
  const found = assets.data;
  const isEmpty = found?.items.length === 0;
  const upload = (files: readonly File[]): void =>
    allUploads.add(files, { playbackPolicy: { type: policy }, ...originals[original] });
  const filter = (change: Record<string, string>): void =>
    void navigate({ search: assetSearch({ ...filters, ...change }), replace: true });
  return (
    <div className={page.page}>
      <header className={page.header}>
        <h1>{text.title}</h1>
        <div className={page.actions}>
          <NativeSelect
            classNames={{ root: classes.access ?? "" }}
            label={text.uploads.access}
            title={text.uploads.accessHint}
            value={policy}
            data={POLICIES.map((value) => ({ value, label: text.policies[value] }))}
            onChange={(event) => setPolicy(POLICIES.find((known) => known === event.currentTarget.value) ?? "public")}
          />
          <NativeSelect
            classNames={{ root: classes.access ?? "" }}
            label={text.uploads.original}
            title={text.uploads.originalHint}
            value={original}
            data={ORIGINALS.map((value) => ({ value, label: text.uploads.originals[value] }))}
            onChange={(event) =>
              setOriginal(ORIGINALS.find((known) => known === event.currentTarget.value) ?? "default")
            }
          />
          <UploadButton onFiles={upload} />
        </div>
      </header>
      <ShowAsCode call={(weir) => weir.assets.requestUpload({ name: "film.mp4", playbackPolicy: { type: policy } })} />
      <DropZone onFiles={upload} />
      <UploadList uploads={allUploads} />
      {(!isEmpty || isNarrowed) && (
        <search className={page.filters}>
          <SearchBox label={text.search} words={search.name} onWords={(name) => filter({ name })} />
          <NativeSelect
            aria-label={text.filters.phase}
            value={search.phase ?? ""}
            data={[
              { value: "", label: text.filters.any },
              ...PHASES.map((value) => ({ value, label: text.phases[value] })),
            ]}
            onChange={(event) => filter({ phase: event.currentTarget.value })}
          />
        </search>
      )}
      <QueryProblem error={assets.error} />
      {!found && !assets.error && <Loading />}
      {isEmpty && isNarrowed && <NoMatch onClear={() => void navigate({ search: {} })}>{text.noMatch}</NoMatch>}
      {isEmpty && !isNarrowed && (
        <EmptyState
          icon={<IconMovie size={24} />}
          title={text.empty.title}
          body={text.empty.body}
          action={
            // The last asset may have been deleted by mistake.
            <Link to="/assets" search={{ phase: "deleting" }}>
              {text.empty.deleted}
            </Link>
          }
        />
      )}
      {found && !isEmpty && <AssetTable assets={found.items} sort={search.sort} onSort={(sort) => filter({ sort })} />}
      <PageLinks
        cursor={cursor}
        nextCursor={found?.nextCursor}
        onCursor={(next) => void navigate({ search: next === undefined ? filters : { ...filters, cursor: next } })}
      />
    </div>
  );
}
