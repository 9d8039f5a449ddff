import { Modal, Tabs } from "@mantine/core";
import { IconShare } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { renderSVG } from "uqr";
import { CodeBlock } from "../../shared/components/code-block.tsx";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Note } from "../../shared/components/note.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { strings } from "../../shared/strings.ts";
import { ingestQuery } from "../account/account-queries.ts";
import classes from "./share-button.module.css";
import {
  elementCode,
  fetchPlayerScript,
  hlsJsCode,
  iframeCode,
  reactCode,
  type SharedVideo,
  watchAddress,
} from "./share-code.ts";

const text = strings.share;
const playerScriptQuery = {
  queryKey: ["player-script"],
  queryFn: fetchPlayerScript,
  staleTime: Number.POSITIVE_INFINITY,
};

interface Props extends Pick<SharedVideo, "playbackId" | "playlist"> {
  /** Viewers need a credential. */
  readonly isGated: boolean;
}

/** Opens everything that shows a video to others: a link with its QR code, and code for web pages. */
export function ShareButton({ isGated, ...wanted }: Props) {
  const { data: ingest } = useQuery(ingestQuery);
  const video = { ...wanted, origin: ingest?.origin ?? window.location.origin };
  return (
    <DialogButton
      label={text.button}
      variant="default"
      leftSection={<IconShare size={16} aria-hidden />}
      dialog={(close) => (
        <Modal opened onClose={close} title={text.title} size="lg">
          <div className={classes.share}>
            {isGated && <Note tone="quiet">{text.gated}</Note>}
            <ShareLink link={watchAddress(video)} />
            <ShareCode {...video} />
          </div>
        </Modal>
      )}
    />
  );
}

function ShareLink({ link }: { readonly link: string }) {
  return (
    <div className={classes.link}>
      <ValueField label={text.link} value={link} />
      <img className={classes.code} alt={text.qr} src={`data:image/svg+xml,${encodeURIComponent(renderSVG(link))}`} />
    </div>
  );
}

/** Part of an element's id, which has no spaces. */
const idOf = (name: string): string => name.replaceAll(" ", "-");

function ShareCode(video: SharedVideo) {
  const { data: script } = useQuery(playerScriptQuery);
  const samples = [
    { ...text.iframe, code: iframeCode(video) },
    ...(script ? [{ ...text.element, code: elementCode(video, script) }] : []),
    { ...text.hlsJs, code: hlsJsCode(video) },
    { ...text.react, code: reactCode(video) },
  ];
  return (
    <Tabs defaultValue={idOf(text.iframe.name)} keepMounted={false}>
      <Tabs.List aria-label={text.samples}>
        {samples.map(({ name }) => (
          <Tabs.Tab key={name} value={idOf(name)}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ name, hint, code }) => (
        <Tabs.Panel key={name} value={idOf(name)} pt="sm">
          <CodeBlock title={hint} code={code} what={text.code} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
