import type { Texts } from './texts.js';

export const pt: Texts = {
  direction: 'ltr',
  blockedTitle: 'Este site está bloqueado',
  blockedText:
    'As suas próprias configurações de filtro para esta conexão à internet bloqueiam ' +
    'este site.',
  blockedByLawTitle: 'Este site está bloqueado por lei',
  blockedByLawText:
    'O seu fornecedor de internet é obrigado a bloquear este site para todos os ' +
    'clientes. As suas configurações de filtro não alteram isso.',
  blockedForEverybodyTitle: 'Este site está bloqueado para todos',
  blockedForEverybodyText:
    'O seu fornecedor de internet bloqueia este site para todos os clientes. As suas ' +
    'configurações de filtro não alteram isso.',
  notBlockedTitle: 'Este site não está bloqueado',
  notBlockedText:
    'As suas configurações de filtro não bloqueiam este site neste momento. Se acabou de ' +
    'ser permitido, o seu dispositivo pode ainda lembrar-se da resposta antiga. Espere ' +
    'um minuto e tente de novo.',
  noNameTitle: 'Esta é a página dos sites bloqueados',
  noNameText:
    'Esta página aparece no lugar de um site que as suas configurações de filtro bloqueiam.',
  notReadyTitle: 'Este serviço ainda não está pronto',
  notReadyText: 'Ainda não conhece as suas configurações. Tente de novo dentro de um minuto.',
  reasonLabel: 'Motivo',
  reasonCategory: 'Categoria bloqueada',
  reasonApplication: 'Aplicação bloqueada',
  reasonList: 'A sua lista de sites bloqueados',
  reasonGrant: 'Bloqueio temporário',
  reasonAllowListOnly: 'Só podem ser abertos os sites que permitiu',
  authorityLabel: 'Ordenado por',
  referenceLabel: 'Referência',
  leadsToLabel: 'Aponta para',
  scheduleLabel: 'Horário',
  scheduleUntil: 'Estas configurações valem até',
  scheduleFrom: 'Próxima mudança de configurações',
  incidentLabel: 'Número do incidente',
  incidentHint:
    'Copie o número do incidente se pedir ajuda. Só o seu provedor pode lê-lo, durante um dia.',
  advice: 'A pessoa que administra as configurações de filtro pode permitir este site.',
  tryAgain: 'Tentar de novo',
  helpLabel: 'Ajuda',
  privacy: 'Esta página não usa cookies nem carrega nada de outros servidores.',
};
