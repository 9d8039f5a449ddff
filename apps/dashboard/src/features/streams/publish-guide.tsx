import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../../shared/components/code-block.tsx";
import { masked, ValueField } from "../../shared/components/value-field.tsx";
import { withinSentence } from "../../shared/lib/within-sentence.ts";
import { strings } from "../../shared/strings.ts";
import { type PublishAddresses, publishCommands, srtAddress } from "./publish-addresses.ts";
import classes from "./publish-guide.module.css";

const text = strings.streams.guide;

/** What the addresses have in them, as it is or masked. */
interface Secrets {
  readonly key: string;
  readonly passphrase: string | undefined;
}

interface Props {
  readonly addresses: PublishAddresses;
  /** Null while there is no stream yet; the guide then shows a placeholder. */
  readonly streamKey: string | null;
  readonly testBroadcast: ReactNode;
}

/** Instructions for sending video, with the exact text to paste. The screen masks the secrets in it; the clipboard gets all of it. */
export function PublishGuide({ addresses, streamKey, testBroadcast }: Props) {
  const { rtmp, rtmps, srt, srtPassphrase, whip } = addresses;
  const key = streamKey ?? strings.streams.first.keyPlaceholder;
  const secrets: Secrets = { key, passphrase: srtPassphrase };
  const concealed: Secrets = {
    key: streamKey === null ? key : masked(streamKey),
    passphrase: srtPassphrase && masked(srtPassphrase),
  };
  const field = (label: string, of: (secrets: Secrets) => string) => (
    <ValueField label={label} value={of(secrets)} concealed={of(concealed)} />
  );
  const command = (title: string, of: (secrets: Secrets) => string) => (
    <CodeBlock title={title} code={of(secrets)} shown={of(concealed)} what={withinSentence(title)} />
  );
  const rtmpWith = (known: Secrets) => `${rtmp}/${known.key}`;
  const srtWith = srt && ((known: Secrets) => srtAddress(srt, known.passphrase, known.key));
  const whipWith = whip && ((known: Secrets) => `${whip}/${known.key}`);
  const keyField = field(text.key, (known) => known.key);
  const noSrt = <p className="quiet">{text.noSrt}</p>;
  return (
    <Tabs defaultValue="obs" keepMounted={false}>
      <Tabs.List aria-label={text.label} className={classes.list ?? ""}>
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
        {keyField}
        {srtWith ? (
          <>
            <p>{text.obsSrt}</p>
            {field(text.srt, srtWith)}
          </>
        ) : (
          noSrt
        )}
        {whipWith && (
          <>
            <p>{text.obsWhip}</p>
            {field(text.whip, whipWith)}
          </>
        )}
        <p className="quiet">{text.obsOutput}</p>
      </Tabs.Panel>
      <Tabs.Panel value="ffmpeg" className={classes.panel ?? ""}>
        {command(text.generated, (known) => publishCommands.ffmpegGenerated(rtmpWith(known)))}
        {command(text.file, (known) => publishCommands.ffmpegFile(rtmpWith(known)))}
        {srtWith ? command(text.generatedSrt, (known) => publishCommands.ffmpegSrt(srtWith(known))) : noSrt}
      </Tabs.Panel>
      <Tabs.Panel value="gstreamer" className={classes.panel ?? ""}>
        {srtWith ? command(text.gstreamerSrt, (known) => publishCommands.gstreamerSrt(srtWith(known))) : noSrt}
        {command(text.gstreamerRtmp, (known) => publishCommands.gstreamerRtmp(rtmpWith(known)))}
      </Tabs.Panel>
      <Tabs.Panel value="other" className={classes.panel ?? ""}>
        <p>{text.hardwareSteps}</p>
        {srtWith ? field(text.srt, srtWith) : noSrt}
        {field(text.oneLine, rtmpWith)}
        {rtmps !== undefined && field(text.rtmps, (known) => `${rtmps}/${known.key}`)}
        <p>{srtWith ? text.partsWithSrt : text.parts}</p>
        {keyField}
        {srtWith && srtPassphrase !== undefined && field(text.passphrase, (known) => known.passphrase ?? "")}
      </Tabs.Panel>
      <Tabs.Panel value="browser" className={classes.panel ?? ""}>
        <p>{whipWith ? text.browserSteps : text.noWhip}</p>
        {whipWith && field(text.whip, whipWith)}
      </Tabs.Panel>
      <Tabs.Panel value="test" className={classes.panel ?? ""}>
        <p>{text.testBody}</p>
        {testBroadcast}
      </Tabs.Panel>
    </Tabs>
  );
}
