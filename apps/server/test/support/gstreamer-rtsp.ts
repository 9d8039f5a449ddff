import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { freePort } from "./weir-process.ts";

/** The Python that the distribution's modules are for, whatever else is in PATH. */
const PYTHON = "/usr/bin/python3";
const TYPELIB = "girepository-1.0/GstRtspServer-1.0.typelib";
const PACKAGES = "gir1.2-gst-rtsp-server-1.0 python3-gi gstreamer1.0-plugins-{base,good,bad,ugly} gstreamer1.0-libav";
const FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];

const SERVER = `
import sys, gi
for name in ("Gio", "Gst", "GstRtsp", "GstRtspServer"):
    gi.require_version(name, "2.0" if name == "Gio" else "1.0")
from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer
port, user, password, launch, certificate = sys.argv[1:]
Gst.init(None)
# A missing element is told here and now: the factory would serve nothing, without a word.
Gst.parse_bin_from_description(launch.strip("( )"), False)
token = GstRtspServer.RTSPToken()
token.set_string("media.factory.role", "viewer")
auth = GstRtspServer.RTSPAuth()
auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
auth.add_digest(user, password, token)
if certificate:
    auth.set_tls_certificate(Gio.TlsCertificate.new_from_pem(certificate, -1))
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(launch)
factory.add_role_from_structure(
    Gst.Structure.new_from_string("viewer, media.factory.access=true, media.factory.construct=true"))
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(port)
server.set_auth(auth)
server.get_mount_points().add_factory("/cam", factory)
assert server.attach(None) != 0
print("ready", flush=True)
GLib.MainLoop().run()
`;

const PICTURE = "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=180,framerate=30/1";
const X264 = "x264enc speed-preset=ultrafast key-int-max=30 b-adapt=false";
const X265 = "x265enc speed-preset=ultrafast key-int-max=30 option-string=no-open-gop=1:bframes=2:b-adapt=0";
const AAC = "audio/x-raw,rate=48000,channels=2 ! avenc_aac ! rtpmp4gpay";
const PAYLOADS = {
  "H.264 and AAC": [`${X264} bframes=0 ! video/x-h264,profile=constrained-baseline ! rtph264pay`, AAC],
  "H.264 with B-frames and AAC": [`${X264} bframes=2 ! video/x-h264,profile=main ! rtph264pay`, AAC],
  "H.264 and Opus": [
    `${X264} bframes=0 ! video/x-h264,profile=constrained-baseline ! rtph264pay`,
    "audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay",
  ],
  "HEVC with B-frames and G.711": [`${X265} ! rtph265pay`, "audio/x-raw,rate=8000,channels=1 ! alawenc ! rtppcmapay"],
} as const;

/** What it sends, with a keyframe each second. */
export type RtspMedia = keyof typeof PAYLOADS;

function launchLine(media: RtspMedia): string {
  const [video, audio] = PAYLOADS[media];
  const sound = `audiotestsrc is-live=true ! audioconvert ! audioresample ! ${audio} name=pay1`;
  return `( ${PICTURE} ! ${video} name=pay0 pt=96 ${sound} )`;
}

/** The distribution's RTSP server of GStreamer, which wants Digest, on loopback. */
export class GStreamerRtsp implements AsyncDisposable {
  readonly user = "viewer";
  readonly password = "a1camera2word";
  readonly #port: number;
  readonly #launch: string;
  /** Of TLS: certificate and key (PEM); empty without. */
  readonly #certificate: string;
  #child: ChildProcess | null = null;

  static async start(media: RtspMedia, certificate = ""): Promise<GStreamerRtsp> {
    if (!FOLDERS.some((folder) => existsSync(`${folder}/${TYPELIB}`)))
      throw new Error(`there is no ${TYPELIB}: apt-get install ${PACKAGES}`);
    const server = new GStreamerRtsp(await freePort(), launchLine(media), certificate);
    await server.restart();
    return server;
  }

  private constructor(port: number, launch: string, certificate: string) {
    this.#port = port;
    this.#launch = launch;
    this.#certificate = certificate;
  }

  urlWith(password: string): string {
    return `${this.#certificate === "" ? "rtsp" : "rtsps"}://${this.user}:${password}@127.0.0.1:${this.#port}/cam`;
  }

  /** Starts it again on the same port. It must not be running. Resolves when it listens. */
  async restart(): Promise<void> {
    const args = ["-c", SERVER, String(this.#port), this.user, this.password, this.#launch, this.#certificate];
    const child = spawn(PYTHON, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    const exited = once(child, "exit").then(([code]) => {
      throw new Error(`GStreamer's RTSP server ended with ${code} before it listened: apt-get install ${PACKAGES}`);
    });
    exited.catch(() => {});
    await Promise.race([once(createInterface(child.stdout), "line"), exited]);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
