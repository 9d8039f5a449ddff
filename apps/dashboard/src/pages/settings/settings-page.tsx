import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { ingestQuery, sessionQuery } from "../../features/account/account-queries.ts";
import { AddressPin } from "../../features/account/address-pin.tsx";
import { PeoplePanel } from "../../features/account/people-panel.tsx";
import { ProjectsPanel } from "../../features/account/projects-panel.tsx";
import { ServerPanels } from "../../features/account/server-panels.tsx";
import { StoragePanel } from "../../features/account/storage-panel.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./settings-page.module.css";

const text = strings.account.settings;

export function SettingsPage() {
  const { data: session } = useQuery(sessionQuery);
  const ingest = useQuery(ingestQuery);
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  return (
    <div className={page.page}>
      <h1>{text.title}</h1>
      <div className={classes.columns}>
        <div className={page.stack}>
          <Panel title={text.addresses} hint={text.addressesHint}>
            {ingest.error && <Note tone="failure">{ingest.error.message}</Note>}
            {ingest.data && (
              <>
                <ValueField label={text.rtmp} value={ingest.data.rtmp} />
                {ingest.data.whip !== undefined && (
                  <ValueField label={text.whip} value={`${ingest.data.whip}/<stream key>`} />
                )}
                <ValueField label={text.hls} value={`${ingest.data.playback}/<playback id>/index.m3u8`} />
                <ValueField label={text.api} value={`${ingest.data.origin}/api`} />
              </>
            )}
            <AddressPin />
            <p>
              <a href="/docs/reference">{text.reference}</a>
            </p>
          </Panel>
          <Panel title={text.signedIn}>
            {session && (
              <p>
                {session.personId === undefined
                  ? text.key(session.keyName, session.keyPrefix)
                  : text.person(session.keyName)}
                <br />
                <span className="quiet">
                  {text.until} <Moment at={session.expiresAt} />
                </span>
              </p>
            )}
          </Panel>
          {session?.reach === "account" && <PeoplePanel session={session} />}
          {session?.reach === "account" && <ProjectsPanel session={session} />}
        </div>
        <div className={page.stack}>
          <StoragePanel />
          <ServerPanels />
        </div>
      </div>
    </div>
  );
}
