import { Alert, ScrollArea, Skeleton, Stack, Table, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { OperationPreview } from '@/api/contract/datasets';
import { ErrorState } from '@/shared/ui/ErrorState';
import { visible } from '@/shared/ui/visible';
import { ChangeCounts, ChangeLegend } from '../versions/ChangeCounts';

interface PreviewProps {
  /** `isLoading` is false where nothing is asked yet: then nothing is shown. */
  preview: { data?: OperationPreview | undefined; error: unknown; isLoading: boolean; refetch: () => unknown };
  /** Shown when the branch has all of it already. */
  contained: string;
}

/** The effect of an operation: counts, and the first files. */
export function Preview({ preview, contained }: PreviewProps) {
  const { t } = useTranslation();
  const { data, error } = preview;
  if (error) return <ErrorState error={error} compact onRetry={() => void preview.refetch()} />;
  if (!data) return preview.isLoading ? <Skeleton height={56} aria-busy /> : null;
  if (data.contained) return <Alert icon={<IconCircleCheck size={18} />}>{contained}</Alert>;
  return (
    <Stack gap={6} role="group" aria-label={t('versioning.preview')}>
      <Text size="sm" fw={600}>
        {t('versioning.preview')}
      </Text>
      <ChangeCounts {...data} />
      <ChangeLegend />
      {data.labels_changed > 0 && (
        <Text size="sm">{t('versioning.labelsChanged', { count: data.labels_changed })}</Text>
      )}
      {data.conflicts_total > 0 && <Text size="sm">{t('versioning.conflictsUncounted')}</Text>}
      {data.examples.length > 0 && <Examples examples={data.examples} />}
    </Stack>
  );
}

/** The first files that change, so that one sees what is meant. */
function Examples({ examples }: { examples: OperationPreview['examples'] }) {
  const { t } = useTranslation();
  const words = { added: t('versioning.added'), changed: t('versioning.changed'), removed: t('versioning.removed') };
  return (
    <ScrollArea.Autosize mah={140} viewportProps={{ tabIndex: 0, 'aria-label': t('versioning.examples') }}>
      <Table withRowBorders={false} verticalSpacing={1} fz="xs" aria-label={t('versioning.examples')}>
        <Table.Tbody>
          {examples.map(({ path, change }) => (
            <Table.Tr key={`${change} ${path}`}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{visible(path)}</Table.Td>
              <Table.Td ta="right">{words[change]}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
