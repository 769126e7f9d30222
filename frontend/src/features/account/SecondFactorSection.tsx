import { Badge, Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconShieldCheck, IconShieldOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SecondFactor } from '@/api/contract/accounts';
import { ProofForm } from '@/shared/domain/secondFactor/ProofForm';
import { renewCodes, turnOff, useRefreshSecondFactor, useSecondFactor } from '@/shared/domain/secondFactor/queries';
import { RecoveryCodes } from '@/shared/domain/secondFactor/RecoveryCodes';
import { SetUp } from '@/shared/domain/secondFactor/SetUp';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { notifySuccess } from '@/shared/ui/undo';
import { useRefreshSessions } from './queries';

const FEW = 3;
type Opened = 'setUp' | 'codes' | 'off' | null;

/** One's own second factor: whether there is one, and what can be done about it. */
export function SecondFactorSection() {
  const { t } = useTranslation();
  const { data: factor, error, isPending, refetch } = useSecondFactor();
  const [opened, setOpened] = useState<Opened>(null);
  return (
    <section aria-label={t('secondFactor.title')}>
      <Title order={2} fz={16} mb="xs">
        {t('secondFactor.title')}
      </Title>
      <Card p="md" maw={620}>
        {isPending && (
          // As high as what comes, for the sections below not to move.
          <Stack aria-busy aria-label={t('common.loading')}>
            <Text size="sm">{t('secondFactor.about')}</Text>
            <Skeleton h={20} w={90} />
            <Skeleton h={30} w={140} ml="auto" />
          </Stack>
        )}
        {error && <ErrorState error={error} onRetry={() => void refetch()} compact />}
        {factor && (
          <Stack>
            <State factor={factor} />
            <Choices factor={factor} onOpen={setOpened} />
            <Dialogs factor={factor} opened={opened} onClose={() => setOpened(null)} />
          </Stack>
        )}
      </Card>
    </section>
  );
}

function State({ factor }: { factor: SecondFactor }) {
  const { t } = useTranslation();
  const { is_on, confirmed_at, is_demanded, recovery_codes_left } = factor;
  return (
    <>
      <Text size="sm">{t('secondFactor.about')}</Text>
      <Group gap="xs">
        <Badge
          color={is_on ? 'teal' : 'gray'}
          leftSection={is_on ? <IconShieldCheck size={13} /> : <IconShieldOff size={13} />}
        >
          {t(is_on ? 'secondFactor.on' : 'secondFactor.off')}
        </Badge>
        {confirmed_at && (
          <Text size="sm" component="span">
            {t('secondFactor.since')} <RelativeTime at={confirmed_at} />
          </Text>
        )}
        {is_on && <Text size="sm">{t('secondFactor.codesLeft', { count: recovery_codes_left })}</Text>}
        {is_demanded && <Text size="sm">{t('secondFactor.demanded')}</Text>}
      </Group>
      {is_on && recovery_codes_left <= FEW && <Text size="sm">{t('secondFactor.fewCodes')}</Text>}
    </>
  );
}

function Choices({
  factor: { is_on, is_demanded },
  onOpen,
}: {
  factor: SecondFactor;
  onOpen: (which: Opened) => void;
}) {
  const { t } = useTranslation();
  if (!is_on)
    return (
      <Group justify="flex-end">
        <Button onClick={() => onOpen('setUp')}>{t('secondFactor.setUp')}</Button>
      </Group>
    );
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={() => onOpen('codes')}>
        {t('secondFactor.newCodes')}
      </Button>
      <Button variant="default" onClick={() => onOpen('setUp')}>
        {t('secondFactor.another')}
      </Button>
      {!is_demanded && (
        <Button variant="light" color="red" onClick={() => onOpen('off')}>
          {t('secondFactor.turnOff')}
        </Button>
      )}
    </Group>
  );
}

interface DialogsProps {
  factor: SecondFactor;
  opened: Opened;
  onClose: () => void;
}

function Dialogs({ factor: { is_on, has_password }, opened, onClose }: DialogsProps) {
  const { t } = useTranslation();
  const refresh = useRefreshSecondFactor();
  const refreshSessions = useRefreshSessions();
  const close = () => {
    onClose();
    void refresh();
    void refreshSessions();
  };
  const proof = { hasPassword: has_password, hasCode: true };
  return (
    <>
      <Dialog
        opened={opened === 'setUp'}
        onClose={close}
        title={t(is_on ? 'secondFactor.anotherTitle' : 'secondFactor.setUpTitle')}
        size="md"
      >
        <SetUp hasPassword={has_password} isOn={is_on} onDone={close} />
      </Dialog>
      <Dialog opened={opened === 'codes'} onClose={close} title={t('secondFactor.codesTitle')} size="md">
        <NewCodes {...proof} onDone={close} />
      </Dialog>
      <Dialog opened={opened === 'off'} onClose={close} title={t('secondFactor.turnOffTitle')} size="md">
        <ProofForm
          {...proof}
          hint={t('secondFactor.turnOffHint')}
          label={t('secondFactor.turnOff')}
          color="red"
          onProof={async (shown) => {
            await turnOff(shown);
            notifySuccess(t('secondFactor.turnedOff'));
            close();
          }}
        />
      </Dialog>
    </>
  );
}

function NewCodes({ onDone, ...proof }: { hasPassword: boolean; hasCode: boolean; onDone: () => void }) {
  const { t } = useTranslation();
  const [codes, setCodes] = useState<string[] | null>(null);
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />;
  return (
    <ProofForm
      {...proof}
      hint={t('secondFactor.newCodesHint')}
      label={t('secondFactor.newCodes')}
      onProof={async (shown) => setCodes(await renewCodes(shown))}
    />
  );
}
