import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Test files that take longest, longest first, as `npm test` lists them at its end. A fresh checkout does not remember how long files take: the
 * last of these would begin when the others are done, and run alone.
 */
export const LONGEST = [
  "apps/server/src/media/srt/srt-network.test.ts",
  "apps/server/src/platform/queue/job-queue.test.ts",
  "apps/server/src/platform/postgres/embedded-postgres.test.ts",
  "apps/server/src/media/transcode/transcode-child.test.ts",
  "apps/server/src/media/transcode/avc-repeats.test.ts",
  "apps/server/src/media/recording/recover-spool.test.ts",
  "apps/server/src/platform/database-faults.test.ts",
  "apps/server/src/domains/assets/import-task.test.ts",
  "apps/server/src/media/transcode/confined-transcoder.test.ts",
  "apps/server/src/media/delivery/hls/gated-delivery.test.ts",

  "apps/server/test/release.test.ts",
  "apps/server/test/cli.test.ts",
  "apps/server/test/publish-control.test.ts",
  "apps/server/test/recording.test.ts",
  "apps/server/test/live.test.ts",
  "apps/server/test/missing-sound.test.ts",
  "apps/server/test/assets.test.ts",
  "apps/server/test/compat-livepeer.test.ts",
  "apps/server/test/public-player.test.ts",
  "apps/server/test/reconnect.test.ts",
  "apps/server/test/gates.test.ts",
  "apps/server/test/watch-page.test.ts",
  "apps/server/test/dashboard-broadcast.test.ts",
  "apps/server/test/clips.test.ts",

  "apps/server/test/startup.alone.ts",
  "apps/server/test/crash.alone.ts",
  "apps/server/test/backup.alone.ts",
  "apps/server/test/roles.alone.ts",
  "apps/server/test/ladder-faults.alone.ts",
  "apps/server/test/dashboard-health.alone.ts",
  "apps/server/test/stream-issues.alone.ts",
  "apps/server/test/hostile-publishers.alone.ts",
  "apps/server/test/health.alone.ts",
  "apps/server/test/guides.alone.ts",
  "apps/server/test/one-client.alone.ts",
  "apps/server/test/every-way-in.alone.ts",
  "apps/server/test/gates-processes.alone.ts",
  "apps/server/test/dashboard.alone.ts",
  "apps/server/test/accessibility.alone.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`));
      return at < 0 ? LONGEST.length : at;
    };
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    return (await super.sort(files)).toSorted((a, b) => group(a) - group(b) || place(a) - place(b));
  }
}
