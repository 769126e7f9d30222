import { Select, type SelectProps } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Role } from '@/api/contract/accounts';

export const ROLES: Role[] = ['viewer', 'labeler', 'researcher', 'admin'];

/** The roles with their names, for a picker. */
export function useRoles() {
  const { t } = useTranslation();
  return useMemo(() => ROLES.map((role) => ({ value: role, label: t(`people.roles.${role}`) })), [t]);
}

interface RoleSelectProps extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  value: Role;
  onChange: (role: Role) => void;
}

export function RoleSelect({ value, onChange, ...rest }: RoleSelectProps) {
  const data = useRoles();
  return (
    <Select
      data={data}
      value={value}
      allowDeselect={false}
      comboboxProps={{ width: 170, position: 'bottom-start' }}
      onChange={(next) => next && next !== value && onChange(next as Role)}
      {...rest}
    />
  );
}
