import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../../shared/components/code-block.tsx";
import { masked, ValueField } from "../../shared/components/value-field.tsx";
import { strings } from "../../shared/strings.ts";
import { type PublishAddresses, publishCommands, srtAddress } from "./publish-addresses.ts";
import classes from "./publish-guide.module.css";

const text = strings.streams.guide;

interface Props {
  readonly addresses: PublishAddresses;
  /** Null while there is no stream yet; the guide then shows a placeholder. */
  readonly streamKey: string | null;
  readonly testBroadcast: ReactNode;
}

/** Instructions for sending video, with the exact text to paste. The screen masks the key; the clipboard gets all of it. */
export function PublishGuide({ addresses, streamKey, testBroadcast }: Props) {
  const { rtmp, rtmps, srt, srtPassphrase, whip } = addresses;
  const isSecret = streamKey !== null;
  const key = streamKey ?? strings.streams.first.keyPlaceholder;
  const shownKey = isSecret ? masked(key) : key;
  const srtWith = (name: string) => (srt === undefined ? null : srtAddress(srt, srtPassphrase, name));
  const srtField =
    srt === undefined ? (
      <p className="quiet">{text.noSrt}</p>
    ) : (
      <ValueField label={text.srt} value={srtWith(key) ?? ""} secret={isSecret} />
    );
  const command = (title: string, of: (address: string) => string, addressWith: (name: string) => string | null) => {
    const [address, shown] = [addressWith(key), addressWith(shownKey)];
    return (
      address !== null &&
      shown !== null && <CodeBlock title={title} code={of(address)} shown={of(shown)} what={title.toLowerCase()} />
    );
  };
  const rtmpWith = (name: string) => `${rtmp}/${name}`;
  return (
    <Tabs defaultValue="obs" keepMounted={false}>
      <Tabs.List aria-label={text.label}>
        <Tabs.Tab value="obs">{text.obs}</Tabs.Tab>
        <Tabs.Tab value="ffmpeg">{text.ffmpeg}</Tabs.Tab>
        <Tabs.Tab value="gstreamer">{text.gstreamer}</Tabs.Tab>
        <Tabs.Tab value="other">{text.hardware}</Tabs.Tab>
        <Tabs.Tab value="browser">{text.browser}</Tabs.Tab>
        <Tabs.Tab value="test">{text.test}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="obs" className={classes.panel ?? ""}>
        <p>{text.obsSteps}</p>
        <ValueField label={text.server} value={rtmp} />
        <ValueField label={text.key} value={key} secret={isSecret} />
        <p>{text.obsSrt}</p>
        {srtField}
        {whip !== undefined && (
          <>
            <p>{text.obsWhip}</p>
            <ValueField label={text.whip} value={`${whip}/${key}`} secret={isSecret} />
          </>
        )}
        <p className="quiet">{text.obsOutput}</p>
      </Tabs.Panel>
      <Tabs.Panel value="ffmpeg" className={classes.panel ?? ""}>
        {command(text.generated, publishCommands.ffmpegGenerated, rtmpWith)}
        {command(text.file, publishCommands.ffmpegFile, rtmpWith)}
        {command(text.generatedSrt, publishCommands.ffmpegSrt, srtWith)}
      </Tabs.Panel>
      <Tabs.Panel value="gstreamer" className={classes.panel ?? ""}>
        {command(text.gstreamerSrt, publishCommands.gstreamerSrt, srtWith)}
        {command(text.gstreamerRtmp, publishCommands.gstreamerRtmp, rtmpWith)}
      </Tabs.Panel>
      <Tabs.Panel value="other" className={classes.panel ?? ""}>
        <p>{text.hardwareSteps}</p>
        {srtField}
        <ValueField label={text.oneLine} value={rtmpWith(key)} secret={isSecret} />
        {rtmps !== undefined && <ValueField label={text.rtmps} value={`${rtmps}/${key}`} secret={isSecret} />}
      </Tabs.Panel>
      <Tabs.Panel value="browser" className={classes.panel ?? ""}>
        <p>{whip === undefined ? text.noWhip : text.browserSteps}</p>
        {whip !== undefined && <ValueField label={text.whip} value={`${whip}/${key}`} secret={isSecret} />}
      </Tabs.Panel>
      <Tabs.Panel value="test" className={classes.panel ?? ""}>
        <p>{text.testBody}</p>
        {testBroadcast}
      </Tabs.Panel>
    </Tabs>
  );
}
