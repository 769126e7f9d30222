import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Source, SourceScan } from '@/api/contract/datasets';
import { problemSentence } from '@/shared/domain/problemWords';
import { useFormat } from '@/shared/ui/format';
import { StateBadge } from '@/shared/ui/StateBadge';

/** The state with what belongs to it: progress, what was found, or what went wrong and what to do. */
export function SourceState({ source }: { source: Source }) {
  const { state, last_scan, error_detail } = source;
  return (
    <Stack gap={2} maw={420}>
      <StateBadge state={state} w="max-content" />
      {error_detail ? (
        <Text size="xs" role="status">
          {problemSentence(problemOf(source))}
        </Text>
      ) : (
        last_scan && <Scan scan={last_scan} />
      )}
    </Stack>
  );
}

const problemOf = (source: Source) => ({
  code: source.error_code,
  detail: source.error_detail,
  detail_code: source.error_detail_code,
  detail_params: source.error_detail_params,
  action: source.error_action ?? '',
});

function Scan({ scan }: { scan: SourceScan }) {
  const { t } = useTranslation();
  const format = useFormat();
  const size = format.bytes(scan.size_bytes);
  const words = {
    pending: () => t('sources.waiting'),
    listing: () =>
      t('sources.listing', { count: scan.objects_count, size, rate: format.number(Math.round(scan.objects_per_s)) }),
    committing: () => t('sources.committing'),
    done: () => t(scan.unchanged ? 'sources.unchanged' : 'sources.made', { version: scan.version, size }),
    failed: () => '',
    cancelled: () => t('sources.cancelled'),
  }[scan.state];
  const skipped = scan.skipped > 0 ? ` ${t('sources.skipped', { count: scan.skipped })}` : '';
  return (
    <Text size="xs" c="dimmed" aria-live="polite">
      {words() + skipped}
    </Text>
  );
}
