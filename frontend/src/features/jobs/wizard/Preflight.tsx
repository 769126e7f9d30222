import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { DatasetPreflight, PreflightCheck } from '@/api/contract/jobs';
import { RemedyButtons } from '../remedies/RemedyButtons';
import { useCheckWords } from './checkWords';

interface PreflightProps {
  looks: readonly DatasetPreflight[];
  /** The next version of an input's dataset is there. */
  onVersion: (alias: string, reference: string) => void;
  onChooseVersion: () => void;
}

const LOOKS = {
  error: { color: 'red', icon: IconAlertTriangle },
  warning: { color: 'yellow', icon: IconInfoCircle },
  ok: { color: 'teal', icon: IconCircleCheck },
} as const;

/** The data that the run would read, and its misfits, with buttons that repair them. */
export function Preflight({ looks, onVersion, onChooseVersion }: PreflightProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs" role="group" aria-label={t('preflight.title')} aria-live="polite">
      {looks.map((look) => (
        <div key={look.alias}>
          <Text size="xs" c="dimmed" fw={600} mb={4}>
            {t('preflight.dataOf', { reference: look.reference })}
          </Text>
          <Stack gap={6}>
            {look.checks.map((check) => (
              <Finding
                key={check.code}
                check={check}
                look={look}
                onVersion={(reference) => onVersion(look.alias, reference)}
                onChooseVersion={onChooseVersion}
              />
            ))}
          </Stack>
        </div>
      ))}
    </Stack>
  );
}

interface FindingProps {
  check: PreflightCheck;
  look: DatasetPreflight;
  onVersion: (reference: string) => void;
  onChooseVersion: () => void;
}

function Finding({ check, look, onVersion, onChooseVersion }: FindingProps) {
  const words = useCheckWords();
  const { color, icon: Icon } = LOOKS[check.level];
  return (
    <Alert variant="light" color={color} py={8} px="xs" icon={<Icon size={16} aria-hidden />}>
      <Text size="sm">{words(check)}</Text>
      {check.remedies.length > 0 && (
        <RemedyButtons
          remedies={check.remedies}
          reference={look.reference}
          branch={look.branch}
          objects={check.code === 'no_objects'}
          onVersion={onVersion}
          onChooseVersion={onChooseVersion}
        />
      )}
    </Alert>
  );
}
