import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyIcon } from '../../ui/CopyId';
import { ShownOnce } from '../../ui/Dialog';

/** Codes that are shown this once. */
export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const { t } = useTranslation();
  const text = codes.join('\n');
  return (
    <ShownOnce>
      <Stack>
        <Text size="sm">{t('secondFactor.codesHint')}</Text>
        <Group align="start" wrap="nowrap">
          {/* Scrolled by keyboard where it is narrow. */}
          <Code
            block
            role="region"
            aria-label={t('secondFactor.codesTitle')}
            tabIndex={0}
            style={{ flex: 1, columns: '11rem', overflowX: 'auto' }}
          >
            {text}
          </Code>
          <CopyIcon value={text} what={t('secondFactor.codesCopy')} />
        </Group>
        <Group justify="space-between">
          <Button
            component="a"
            variant="default"
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
            download="atom-recovery-codes.txt"
          >
            {t('secondFactor.download')}
          </Button>
          <Button onClick={onDone} data-autofocus>
            {t('secondFactor.kept')}
          </Button>
        </Group>
      </Stack>
    </ShownOnce>
  );
}
