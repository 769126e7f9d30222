import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

export interface CopyIdProps {
  /** What is copied. */
  value: string;
  /** The text that is shown: by default the last 8 characters of a UUID, else the first `chars`. */
  label?: string;
  chars?: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;

/** UUIDv7 begins with a timestamp: its last characters tell two ids apart, its first do not. */
export function shortId(value: string, chars = 12): string {
  if (UUID.test(value)) return value.slice(-8);
  return value.length > chars ? value.slice(0, chars) : value;
}

export function CopyId({ value, label, chars = 12 }: CopyIdProps) {
  return (
    <Group gap={2} wrap="nowrap" component="span" display="inline-flex" style={{ verticalAlign: 'middle' }}>
      <Tooltip label={value} disabled={(label ?? shortId(value, chars)) === value}>
        <Code fz="xs">{label ?? shortId(value, chars)}</Code>
      </Tooltip>
      <CopyIcon value={value} />
    </Group>
  );
}

export function CopyIcon({ value, what }: { value: string; what?: string }) {
  const { t } = useTranslation();
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => {
        const label = copied ? t('common.copied') : [t('common.copy'), what ?? value].join(' ');
        return (
          <Tooltip label={copied ? t('common.copied') : t('common.copy')}>
            <ActionIcon
              size="xs"
              color={copied ? 'teal' : 'gray'}
              aria-label={label}
              onClick={(event) => {
                event.preventDefault();
                event.stopPropagation();
                copy();
              }}
            >
              {copied ? <IconCheck size={13} /> : <IconCopy size={13} />}
            </ActionIcon>
          </Tooltip>
        );
      }}
    </CopyButton>
  );
}
