import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { ButtonLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { OperationProgress } from '../operations/OperationProgress';
import { FileProblems } from './FileProblems';
import { useTransferState } from './session';
import type { Transfer, TransferState } from './transfer';
import { Unreadable } from './Unreadable';
import { useChanges } from './useChanges';

interface TransferCardProps {
  transfer: Transfer;
  /** Puts the card away: the upload is over, or given up. */
  onClose: () => void;
  /** Has the folder chosen again: files that changed can only be read then. */
  onChooseAgain: () => void;
}

/** An upload under way: how far it is, and what can be done with it. */
export function TransferCard({ transfer, onClose, onChooseAgain }: TransferCardProps) {
  const { t } = useTranslation();
  const state = useTransferState(transfer);
  const { dataset, branch, folder } = transfer.order;
  const { stage, problems } = state;
  if (stage === 'done') return <Done transfer={transfer} state={state} onClose={onClose} />;
  const giveUp = () => void transfer.discard().then(onClose);
  return (
    <Card component="section" aria-label={t('upload.running')}>
      <Stack gap="sm">
        <Text fw={600}>{t('upload.into', { place: `${dataset}@${branch}${folder && ` · ${folder}`}` })}</Text>
        <Numbers state={state} />
        {/* It goes on by itself: this only says why nothing moves. */}
        {state.waiting != null && <ErrorState error={state.waiting} compact retrying />}
        {stage === 'failed' && <ErrorState error={state.error} compact onRetry={() => void transfer.run()} />}
        {stage === 'review' ? (
          <FileProblems title={t('upload.unread', { count: problems.length })} problems={problems}>
            <Group gap="xs" mt="sm">
              <Button size="xs" onClick={() => void transfer.retry()}>
                {t('upload.readAgain')}
              </Button>
              <Button size="xs" variant="default" onClick={onChooseAgain}>
                {t('upload.chooseAgain')}
              </Button>
              <Button size="xs" variant="default" onClick={() => void transfer.leaveOut()}>
                {t('upload.leaveOut')}
              </Button>
            </Group>
          </FileProblems>
        ) : (
          <FileProblems title={t('upload.unread', { count: problems.length })} problems={problems} />
        )}
        <Group gap="xs">
          {transfer.isRunning && stage !== 'committing' && (
            <Button
              variant="default"
              leftSection={<IconPlayerPause size={15} />}
              data-focus-as="pause-upload"
              onClick={() => transfer.pause()}
            >
              {t('upload.pause')}
            </Button>
          )}
          {stage === 'paused' && (
            <Button
              leftSection={<IconPlayerPlay size={15} />}
              data-focus-as="pause-upload"
              onClick={() => void transfer.run()}
            >
              {t('upload.resume')}
            </Button>
          )}
          {stage !== 'committing' && (
            <Button variant="subtle" color="gray" onClick={giveUp}>
              {t('upload.giveUp')}
            </Button>
          )}
        </Group>
      </Stack>
    </Card>
  );
}

function Numbers({ state }: { state: TransferState }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { stage, files, bytes, unchanged, perSecond, commit } = state;
  if (stage === 'comparing') return <Text size="sm">{t('upload.comparing', { count: files.total })}</Text>;
  if (stage === 'committing')
    return commit ? (
      <OperationProgress operation={{ running: commit, cancel: () => {} }} />
    ) : (
      <Text size="sm">{t('upload.committing')}</Text>
    );
  const facts = [
    t('upload.filesOf', { done: format.number(files.done), total: format.number(files.total) }),
    t('upload.bytesOf', { done: format.bytes(bytes.done), total: format.bytes(bytes.total) }),
    perSecond !== null && t('upload.rate', { rate: format.bytes(perSecond) }),
    perSecond !== null && t('upload.left', { time: format.duration((bytes.total - bytes.done) / perSecond) }),
    unchanged > 0 && t('upload.unchanged', { count: unchanged }),
  ];
  return (
    <>
      <ProgressBar ratio={bytes.total === 0 ? 1 : bytes.done / bytes.total} label={t('upload.progress')} />
      <Text size="sm" c="dimmed" className="tabular">
        {facts.filter(Boolean).join(' · ')}
      </Text>
    </>
  );
}

function Done({ transfer, state, onClose }: { transfer: Transfer; state: TransferState; onClose: () => void }) {
  const { t } = useTranslation();
  const { dataset, branch, folder } = transfer.order;
  const { version, isNew, meanwhile } = state;
  const changesOf = useChanges();
  return (
    <Alert color="teal" icon={<IconCircleCheck size={18} />} title={t('upload.done', { name: dataset })} role="status">
      <Stack gap="sm" align="flex-start">
        {isNew && version ? (
          <Text size="sm">{changesOf(version)}</Text>
        ) : (
          <Text size="sm">{t('upload.doneSame', { version: version?.ref ?? '' })}</Text>
        )}
        {version && <Unreadable transfer={transfer} version={version} />}
        {meanwhile && <Text size="sm">{t('upload.moved', { branch })}</Text>}
        <FileProblems
          title={t('upload.replaced', { count: meanwhile?.replaced.length ?? 0 })}
          problems={(meanwhile?.replaced ?? []).map((path) => ({ path, kind: 'replaced' }))}
        />
        <Group gap="xs">
          <ButtonLink
            size="xs"
            to="/datasets/$name"
            params={{ name: dataset }}
            search={{ ref: branch === 'main' ? version?.ref : branch, path: folder || undefined }}
          >
            {t('upload.look')}
          </ButtonLink>
          <Button size="xs" variant="default" onClick={onClose}>
            {t('upload.another')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
