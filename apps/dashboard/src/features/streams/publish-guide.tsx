import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../../components/code-block.tsx";
import { masked, ValueField } from "../../components/value-field.tsx";
import { strings } from "../../strings.ts";
import classes from "./publish-guide.module.css";

const text = strings.streams.guide;

interface Props {
  /** `rtmp://host:port/live`, without the key. */
  readonly server: string;
  /** Null while there is no stream yet; the guide then shows a placeholder. */
  readonly streamKey: string | null;
  readonly testBroadcast: ReactNode;
}

/** Instructions for sending video, with the exact text to paste. The screen masks the key; the clipboard gets all of it. */
export function PublishGuide({ server, streamKey, testBroadcast }: Props) {
  return (
    <Tabs defaultValue="obs" keepMounted={false}>
      <Tabs.List aria-label={text.label}>
        <Tabs.Tab value="obs">{text.obs}</Tabs.Tab>
        <Tabs.Tab value="ffmpeg">{text.ffmpeg}</Tabs.Tab>
        <Tabs.Tab value="other">{text.phone}</Tabs.Tab>
        <Tabs.Tab value="test">{text.test}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="obs" className={classes.panel ?? ""}>
        <p>{text.obsSteps}</p>
        <ValueField label={text.server} value={server} />
        {streamKey === null ? (
          <ValueField label={text.key} value={strings.streams.first.keyPlaceholder} />
        ) : (
          <ValueField label={text.key} value={streamKey} secret />
        )}
        <p className="quiet">{text.obsOutput}</p>
      </Tabs.Panel>
      <Tabs.Panel value="ffmpeg" className={classes.panel ?? ""}>
        <Command title={text.generated} server={server} streamKey={streamKey} command={generated} />
        <Command title={text.file} server={server} streamKey={streamKey} command={file} />
      </Tabs.Panel>
      <Tabs.Panel value="other" className={classes.panel ?? ""}>
        <p>{text.phoneSteps}</p>
        <ValueField
          label={text.oneLine}
          value={`${server}/${streamKey ?? strings.streams.first.keyPlaceholder}`}
          secret={streamKey !== null}
        />
      </Tabs.Panel>
      <Tabs.Panel value="test" className={classes.panel ?? ""}>
        <p>{text.testBody}</p>
        {testBroadcast}
      </Tabs.Panel>
    </Tabs>
  );
}

const generated = (address: string): string =>
  [
    "ffmpeg -re -f lavfi -i testsrc2=size=1280x720:rate=30",
    "-f lavfi -i sine=frequency=440",
    "-c:v libx264 -preset veryfast -tune zerolatency -pix_fmt yuv420p -g 60 -b:v 2500k",
    `-c:a aac -f flv "${address}"`,
  ].join(" \\\n  ");

const file = (address: string): string => `ffmpeg -re -i video.mp4 -c copy -f flv "${address}"`;

interface CommandProps {
  readonly title: string;
  readonly server: string;
  readonly streamKey: string | null;
  readonly command: (address: string) => string;
}

function Command({ title, server, streamKey, command }: CommandProps) {
  const placeholder = strings.streams.first.keyPlaceholder;
  return (
    <CodeBlock
      title={title}
      code={command(`${server}/${streamKey ?? placeholder}`)}
      shown={command(`${server}/${streamKey === null ? placeholder : masked(streamKey)}`)}
      what={title.toLowerCase()}
    />
  );
}
