"""The main flow with generated clients: calls by openapi-python-client, answers read again by datamodel-code-generator's types.

clients.py URL   with the packages nagz_client and nagz_types in PYTHONPATH
"""
import datetime
import secrets
import sys

import nagz_types
from nagz_client import AuthenticatedClient, Client, models
from nagz_client.api.ai import select_tone
from nagz_client.api.auth import child_log_in, sign_up
from nagz_client.api.consents import grant_consent
from nagz_client.api.families import create_family, create_member, get_family
from nagz_client.api.nags import create_nag, list_nags, update_nag_status
from nagz_client.api.sync import sync_events
from nagz_client.api.version import get_version

BASE = sys.argv[1]
calls = 0


def call(operation, name, *arguments, status=201, **parameters):
    """The parsed answer, after both kinds of types have understood it."""
    global calls
    answer = operation.sync_detailed(*arguments, **parameters)
    assert answer.status_code == status, (operation.__name__, answer.status_code, answer.content)
    assert type(answer.parsed).__name__ == name, (operation.__name__, type(answer.parsed))
    getattr(nagz_types, name).model_validate_json(answer.content)
    calls += 1
    return answer.parsed


def signed_in(answer):
    return AuthenticatedClient(BASE, token=answer.access_token)


def main():
    anybody = Client(BASE)
    call(get_version, "VersionResponse", client=anybody, status=200)
    address = f"ada.{secrets.token_hex(6)}@example.com"
    ada = signed_in(call(
        sign_up, "AuthResponse", client=anybody, body=models.SignupRequest(email=address, password="a long passphrase", display_name="Ada")))
    taken = call(
        sign_up, "ErrorEnvelope", client=anybody, status=409, body=models.SignupRequest(email=address, password="another passphrase"))
    assert taken.error.message

    family = call(create_family, "FamilyResponse", client=ada, body=models.FamilyCreate(name="The Lovelaces")).family_id
    for consent in (models.ConsentType.CHILD_ACCOUNT_CREATION, models.ConsentType.AI_MEDIATION):
        call(grant_consent, "ConsentResponse", client=ada, body=models.ConsentCreate(family_id=family, consent_type=consent))
    child = call(
        create_member, "MemberDetail", family, client=ada,
        body=models.MemberCreateAndAdd(display_name="Ben", role=models.FamilyRole.CHILD, username="ben", pin="4821"))
    code = call(get_family, "FamilyResponse", family, client=ada, status=200).child_code
    ben = signed_in(call(
        child_log_in, "AuthResponse", client=anybody, status=200, body=models.ChildLoginRequest(family_code=code, username="ben", pin="4821")))

    due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)
    nag = call(create_nag, "NagResponse", client=ada, body=models.NagCreate(
        family_id=family, recipient_id=child.user_id, due_at=due, category=models.NagCategory.CHORES,
        done_definition=models.DoneDefinition.ACK_ONLY, description="Feed the dog"))
    call(select_tone, "ToneSelectResponse", client=ada, body=models.ToneSelectRequest(nag_id=nag.id))
    done = call(update_nag_status, "NagResponse", nag.id, client=ben, status=200, body=models.NagStatusUpdate(status=models.NagStatus.COMPLETED))
    assert done.status == models.NagStatus.COMPLETED
    page = call(list_nags, "PageOfNagResponse", client=ben, family_id=family, status=200)
    assert [one.id for one in page.items] == [nag.id]
    synced = call(sync_events, "SyncResponse", client=ben, family_id=family, status=200)
    assert len(synced.nag_events) == 2
    refused = call(get_family, "ErrorEnvelope", family, client=AuthenticatedClient(BASE, token="stolen"), status=401)
    assert refused.error.code
    print(f"ok: {calls} answers, each read by both generators' types")


main()
