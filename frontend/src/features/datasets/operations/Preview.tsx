import { Alert, Radio, ScrollArea, Skeleton, Stack, Table, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { MergeConflict, OperationPreview, Side } from '@/api/contract/datasets';
import { ErrorState } from '@/shared/ErrorState';
import { ChangeCounts } from '../versions/ChangeCounts';
import { attributeSides } from './conflicts';

interface PreviewProps {
  /** `isLoading` is false where nothing is asked yet: then nothing is shown. */
  preview: { data?: OperationPreview | undefined; error: unknown; isLoading: boolean; refetch: () => unknown };
  /** Shown when the branch has all of it already. */
  contained: string;
}

/** What an operation would do: counts, and what both sides changed. */
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
      {data.labels_changed > 0 && (
        <Text size="sm">{t('versioning.labelsChanged', { count: data.labels_changed })}</Text>
      )}
      {data.examples.length > 0 && <Examples examples={data.examples} />}
      {data.conflicts_total > 0 && <Conflicts total={data.conflicts_total} conflicts={data.conflicts} />}
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
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{path}</Table.Td>
              <Table.Td ta="right">{words[change]}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}

function Conflicts({ total, conflicts }: { total: number; conflicts: MergeConflict[] }) {
  const { t } = useTranslation();
  return (
    <Alert
      color="orange"
      icon={<IconAlertTriangle size={18} />}
      title={t('versioning.conflicts', { count: total })}
      py="xs"
    >
      <ScrollArea.Autosize mah={180} viewportProps={{ tabIndex: 0, 'aria-label': t('versioning.conflictsList') }}>
        <Table withRowBorders={false} verticalSpacing={2} aria-label={t('versioning.conflictsList')}>
          <Table.Tbody>
            {conflicts.map((conflict) => (
              <ConflictRow key={`${conflict.path} ${conflict.layer} ${conflict.field}`} conflict={conflict} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
      {total > conflicts.length && <Text size="xs">{t('versioning.conflictsMore', { shown: conflicts.length })}</Text>}
    </Alert>
  );
}

function ConflictRow({ conflict }: { conflict: MergeConflict }) {
  const { t } = useTranslation();
  const { path, layer, field } = conflict;
  const ofFile = { attributes: t('versioning.attributesOnly'), media_type: t('versioning.mediaTypeOnly') };
  const what = layer ? [layer, field].filter(Boolean).join('.') : ofFile[field as keyof typeof ofFile];
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {path}
        {what && (
          <Text span size="xs">
            {' '}
            {what}
          </Text>
        )}
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {!layer && field === 'attributes' ? <AttributeSides {...conflict} /> : <Sides {...conflict} />}
      </Table.Td>
    </Table.Tr>
  );
}

/** A label is told by what it says, a file by what happened to it. */
function Sides({ field, ours, theirs, our_value, their_value }: MergeConflict) {
  const { t } = useTranslation();
  const words = { added: t('versioning.added'), changed: t('versioning.changed'), removed: t('versioning.removed') };
  const sides = field
    ? { ours: our_value || t('versioning.none'), theirs: their_value || t('versioning.none') }
    : { ours: words[ours], theirs: words[theirs] };
  return t('versioning.conflictSides', sides);
}

/** Files of the same bytes: which attributes differ, each on a line. */
function AttributeSides({ our_value, their_value }: MergeConflict) {
  const { t } = useTranslation();
  return attributeSides(our_value, their_value).map(({ name, ours, theirs }) => (
    <div key={name}>
      {t('versioning.attributeSides', {
        name,
        ours: ours ?? t('versioning.none'),
        theirs: theirs ?? t('versioning.none'),
      })}
    </div>
  ));
}

interface SideChoiceProps {
  preview: PreviewProps['preview'];
  form: Pick<UseFormReturnType<{ on_conflict: Side }>, 'errors' | 'setFieldValue' | 'values'>;
  branch: string;
  source: string;
}

/** Whose side counts where both changed, if there is such a thing; nothing is chosen at first. */
export function SideChoice({ preview, form, branch, source }: SideChoiceProps) {
  const { t } = useTranslation();
  if (!preview.data?.conflicts_total) return null;
  const error = form.errors.on_conflict;
  return (
    <Radio.Group
      label={t('versioning.side')}
      value={form.values.on_conflict}
      onChange={(next) => form.setFieldValue('on_conflict', next as Side)}
      error={error}
      data-wrong={error ? true : undefined}
    >
      <Stack gap={6} mt={4}>
        <Radio value="ours" label={t('versioning.ours', { branch })} />
        <Radio value="theirs" label={t('versioning.theirs', { source })} />
      </Stack>
    </Radio.Group>
  );
}
