import { MultiSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSecrets } from '@/shared/domain/secrets';
import { AnchorLink } from '@/shared/ui/links';

interface Props {
  names: string[];
  errors: Record<string, string>;
  onChange: (names: string[]) => void;
}

/** Which secrets of the project the command gets. */
export function SecretNames({ names, errors, onChange }: Props) {
  const { t } = useTranslation();
  const { rows } = useSecrets();
  const known = rows?.map(({ name }) => name) ?? [];
  const wrong = names.map((name) => errors[`secrets.${name}`]).find(Boolean);
  const none = rows?.length === 0 && names.length === 0;
  return (
    <MultiSelect
      label={t('secrets.inRun')}
      description={
        none ? (
          <>
            {t('secrets.inRunEmpty')}{' '}
            <AnchorLink to="/settings/secrets" search={{ create: 'yes' }} fz="inherit" underline="always">
              {t('secrets.add')}
            </AnchorLink>
          </>
        ) : (
          t('secrets.inRunHint')
        )
      }
      // One that was removed stays visible, to be taken out.
      data={[...new Set([...known, ...names])]}
      value={names}
      error={wrong ?? errors.secrets}
      onChange={onChange}
      disabled={none}
      searchable
      clearable
    />
  );
}
