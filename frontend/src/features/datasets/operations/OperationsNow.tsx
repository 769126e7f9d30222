import { ActionIcon, Button, Group, Paper, Stack, Text, ThemeIcon, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconLoader2, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunningOperation } from '@/api/contract/datasets';
import { ApiError } from '@/api/errors';
import { useMay } from '@/shared/domain/project';
import { isRunning } from '@/shared/live/untilDone';
import { useErrorWords } from '@/shared/ui/ErrorState';
import { focusNeighbour } from '@/shared/ui/focusBack';
import { AnchorLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { personName } from '../names';
import { useDismiss, useDismissed } from './dismissals';
import { OperationProgress } from './OperationProgress';
import { useCancel, useOperationsOfNow } from './useOperation';

const SHOWN = 3;

/** Operations on a dataset that run now, for whomever, and ended ones until they are dismissed; mostly nothing. */
export function OperationsNow({ name }: { name: string }) {
  const { t } = useTranslation();
  const dismissed = useDismissed();
  const dismiss = useDismiss(name);
  const [isWhole, setWhole] = useState(false);
  const asked = useOperationsOfNow(name);
  const rows = [...asked.filter(isRunning), ...asked.filter((row) => !isRunning(row) && !dismissed.has(row.id))];
  const over = rows.filter((row) => !isRunning(row));
  const dismissAll = () => {
    document.querySelector('main')?.focus({ preventScroll: true });
    void dismiss.all(over.map((row) => row.id));
  };
  if (rows.length === 0) return null;
  return (
    <Stack component="section" gap={6} mb="sm" aria-label={t('versioning.operations')}>
      {rows.slice(0, isWhole ? undefined : SHOWN).map((row) => (
        <OperationRow key={row.id} name={name} row={row} />
      ))}
      <Group gap="xs">
        {rows.length > SHOWN && !isWhole && (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => setWhole(true)}>
            {t('versioning.moreOperations', { count: rows.length - SHOWN })}
          </Button>
        )}
        {over.length > 1 && (
          <Button size="compact-xs" variant="subtle" color="gray" ml="auto" onClick={dismissAll}>
            {t('versioning.dismissAll')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function OperationRow({ name, row }: { name: string; row: RunningOperation }) {
  const { t } = useTranslation();
  const what = useWhat()(row);
  const isOver = !isRunning(row);
  const dismiss = useDismiss(name);
  return (
    <Paper withBorder px="sm" py={6} role="group" aria-label={what}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Glyph row={row} />
        <Stack gap={2} flex={1} miw={0}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Text span inherit fw={550}>
              {what}
            </Text>{' '}
            <Text span size="xs" c="dimmed">
              {personName(row.created_by)} · <RelativeTime at={isOver ? row.updated_at : row.created_at} />
            </Text>
          </Text>
          <Fate name={name} row={row} />
        </Stack>
        {isOver && (
          <Tooltip label={t('versioning.dismiss')}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={t('versioning.dismissOf', { what })}
              data-takes-row
              onClick={(event) => {
                focusNeighbour(event.currentTarget);
                void dismiss.one(row.id);
              }}
            >
              <IconX size={14} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </Paper>
  );
}

function Glyph({ row }: { row: RunningOperation }) {
  const [Icon, color] = isRunning(row)
    ? ([IconLoader2, 'blue'] as const)
    : row.error
      ? ([IconAlertTriangle, 'red'] as const)
      : ([IconCircleCheck, 'teal'] as const);
  return (
    <ThemeIcon size="sm" variant="transparent" color={color} aria-hidden>
      <Icon size={16} />
    </ThemeIcon>
  );
}

/** How far it is, the version that it made, or why it made none. */
function Fate({ name, row }: { name: string; row: RunningOperation }) {
  const { t } = useTranslation();
  const cancel = useCancel(name);
  const mayCancel = useMay('researcher');
  if (isRunning(row))
    return <OperationProgress operation={{ running: row, cancel: () => void cancel(row.id) }} withCancel={mayCancel} />;
  if (row.error) return <Failure error={row.error} />;
  if (row.unchanged || !row.version) return <Text size="sm">{t('versioning.nothing')}</Text>;
  return (
    <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref: row.version.ref }} size="sm">
      {t('versioning.edited', { branch: row.branch, ref: row.version.ref })}
    </AnchorLink>
  );
}

function Failure({ error }: { error: NonNullable<RunningOperation['error']> }) {
  const words = useErrorWords(new ApiError({ ...error, status: 409, title: '' }));
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {[words.title, words.detail, words.action].filter(Boolean).map((sentence) => (
        <Text key={sentence} span inherit display="block">
          {sentence}
        </Text>
      ))}
    </Text>
  );
}

function useWhat() {
  const { t } = useTranslation();
  return ({ kind, source, branch }: RunningOperation) =>
    t(`versioning.operation.${kind === 'edit' && source ? 'copy' : kind}`, { source, branch });
}
