import { Alert, Button, Card, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconBan, IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTransfer } from '@/api/contract/labeling';
import { problemWords } from '@/shared/domain/problemWords';
import { useMay } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { ButtonLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { notifyError } from '@/shared/ui/undo';
import { useTransfer, useTransferActions } from './queries';
import { TransferReport } from './TransferReport';

/** One import or export: how far it is, its counts, and the decision. */
export function TransferView({ id }: { id: string }) {
  const transfer = useTransfer(id);
  if (transfer.error && !transfer.data)
    return <ErrorState error={transfer.error} onRetry={() => void transfer.refetch()} />;
  if (!transfer.data) return <Skeleton height={180} radius="md" aria-busy />;
  return (
    <Stack gap="md">
      <TransferState transfer={transfer.data} />
      <TransferReport transfer={transfer.data} />
    </Stack>
  );
}

function TransferState({ transfer }: { transfer: LabelTransfer }) {
  const { t } = useTranslation();
  if (transfer.state === 'failed') return <Failed transfer={transfer} />;
  if (transfer.state === 'cancelled')
    return (
      <Alert color="gray" icon={<IconBan size={18} />} maw={720}>
        {t('exchange.cancelled')}
      </Alert>
    );
  if (transfer.state === 'done') return <Done transfer={transfer} />;
  return <Open transfer={transfer} />;
}

function Failed({ transfer }: { transfer: LabelTransfer }) {
  const { t } = useTranslation();
  const words = transfer.error ? problemWords(transfer.error) : null;
  return (
    <Alert
      color="red"
      role="alert"
      icon={<IconAlertTriangle size={18} />}
      title={t('exchange.states.failed')}
      maw={720}
      style={{ overflowWrap: 'anywhere' }}
    >
      <Text size="sm">{words?.detail}</Text>
      <Text size="sm" mt={4}>
        {words?.action}
      </Text>
    </Alert>
  );
}

function Done({ transfer }: { transfer: LabelTransfer }) {
  const { t } = useTranslation();
  const format = useFormat();
  const actions = useTransferActions();
  const version = transfer.output_version;
  const isUnchanged = (transfer.outcome as { unchanged?: boolean }).unchanged === true;
  const download = () => {
    actions
      .address(transfer.id)
      .then((url) => window.location.assign(url))
      .catch(notifyError);
  };
  return (
    <Alert color="teal" icon={<IconCircleCheck size={18} />} title={t('exchange.states.done')} role="status" maw={720}>
      {isUnchanged && <Text size="sm">{t('exchange.unchanged')}</Text>}
      {version && (
        <Group mt={6}>
          <ButtonLink size="xs" to="/datasets/$name" params={{ name: version.dataset }} search={{ ref: version.ref }}>
            {t('exchange.openVersion', { ref: version.ref })}
          </ButtonLink>
          <ButtonLink
            size="xs"
            variant="default"
            to="/labeling"
            search={{ create: `${version.dataset}@${version.ref}` }}
          >
            {t('exchange.startTask')}
          </ButtonLink>
        </Group>
      )}
      {transfer.result_bytes != null && (
        <Group mt={6}>
          <Button size="xs" onClick={download}>
            {t('exchange.download')} · {format.bytes(transfer.result_bytes)}
          </Button>
          {transfer.expires_at && (
            <Text size="sm">{t('exchange.expires', { at: format.dateTime(transfer.expires_at) })}</Text>
          )}
        </Group>
      )}
    </Alert>
  );
}

function Open({ transfer }: { transfer: LabelTransfer }) {
  const { t } = useTranslation();
  const actions = useTransferActions();
  const [busy, setBusy] = useState(false);
  const may = useMay(transfer.direction === 'import' ? 'researcher' : 'viewer');
  const step = t(`exchange.states.${transfer.state}`);
  const act = (what: 'confirm' | 'cancel') => () => {
    setBusy(true);
    actions[what](transfer.id)
      .catch(notifyError)
      .finally(() => setBusy(false));
  };
  const isCommitting = transfer.direction === 'import' && transfer.state === 'working';
  return (
    <Card padding="lg" maw={720} component="section" aria-label={step}>
      <Text fw={600} role="status" mb="xs">
        {step}
      </Text>
      {transfer.state !== 'waiting' && <ProgressBar ratio={transfer.progress} label={step} />}
      {may && !isCommitting && (
        <Group mt="sm">
          {transfer.state === 'waiting' && (
            <Button onClick={act('confirm')} loading={busy}>
              {t(transfer.direction === 'import' ? 'exchange.confirmImport' : 'exchange.confirmExport')}
            </Button>
          )}
          <Button variant="default" onClick={act('cancel')} disabled={busy}>
            {t('exchange.cancel')}
          </Button>
        </Group>
      )}
    </Card>
  );
}
