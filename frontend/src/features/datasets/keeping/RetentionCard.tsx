import { Alert, Button, Card, Group, NumberInput, Radio, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconClockExclamation } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Retention, RetentionKind } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useRetention, useSetRetention } from './queries';

const KINDS: RetentionKind[] = ['all', 'last', 'days'];
const isKind = (text: string): text is RetentionKind => KINDS.some((kind) => kind === text);

export function RetentionCard({ dataset }: { dataset: string }) {
  const { t } = useTranslation();
  const { data, error } = useRetention(dataset);
  return (
    <Card>
      <Stack>
        <Title order={2} size="h4">
          {t('datasets.retention')}
        </Title>
        {error && <ErrorState error={error} compact />}
        {!data && !error && <Skeleton h={120} />}
        {data && <RetentionForm key={`${data.kind} ${data.limit}`} dataset={dataset} present={data} />}
        {data && data.due_count > 0 && <Due present={data} />}
      </Stack>
    </Card>
  );
}

function RetentionForm({ dataset, present }: { dataset: string; present: Retention }) {
  const { t } = useTranslation();
  const may = useMay('admin');
  const { set, isPending } = useSetRetention(dataset);
  const [kind, setKind] = useState<RetentionKind>(present.kind);
  const [limit, setLimit] = useState<number | string>(present.limit ?? 10);
  const wrong = kind !== 'all' && !(typeof limit === 'number' && limit >= 1);
  const save = () =>
    void set({ kind, limit: kind === 'all' ? null : Number(limit) })
      .then(() => notifySuccess(t('datasets.retentionSaved')))
      .catch(notifyError);
  return (
    <Stack>
      <Radio.Group
        label={t('datasets.retentionLabel')}
        description={t('datasets.retentionHint')}
        value={kind}
        onChange={(next) => isKind(next) && setKind(next)}
      >
        <Stack gap={6} mt="xs">
          {KINDS.map((one) => (
            <Radio key={one} value={one} label={t(`datasets.retention_${one}`)} disabled={!may} />
          ))}
        </Stack>
      </Radio.Group>
      {kind !== 'all' && (
        <NumberInput
          w={220}
          label={t(kind === 'last' ? 'datasets.retentionVersions' : 'datasets.retentionDays')}
          min={1}
          max={1_000_000}
          value={limit}
          onChange={setLimit}
          disabled={!may}
          error={wrong ? t('datasets.retentionWrong') : undefined}
        />
      )}
      {may ? (
        <Group>
          <Button data-focus-as="retention-save" onClick={save} loading={isPending} disabled={wrong}>
            {t('common.save')}
          </Button>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {t('datasets.keepingAdmins')}
        </Text>
      )}
    </Stack>
  );
}

function Due({ present }: { present: Retention }) {
  const { t } = useTranslation();
  const names = present.due.join(', ') + (present.due_count > present.due.length ? ', …' : '');
  return (
    <Alert color="orange" icon={<IconClockExclamation size={18} />}>
      {t('datasets.retentionDue', { count: present.due_count, names })}
    </Alert>
  );
}
