"""`pgrag tune`: what it says, and that nothing to do is not an error."""


def test_library_with_too_little_text_stays_as_it_is(indexed):
    before = indexed.json("configure", "kestrel")
    told = indexed.run("tune", "kestrel@2.0")
    assert "Too little. There are" in told.out
    assert "takes a minute or two" in told.err
    done = indexed.json("tune", "kestrel", "--dry-run", "--queries", 60, "--seed", 5)
    assert (done["outcome"], done["seed"], done["version"]) == ("too little", 5, "2.0")
    listed = indexed.json("tune", "kestrel", "--history")
    assert [run["outcome"] for run in listed] == ["too little", "too little"]
    assert listed[0]["seed"] == 5
    assert "too little" in indexed.run("tune", "kestrel", "--history").out
    assert indexed.json("configure", "kestrel") == before
    assert "no tuning of library" in indexed.run("tune", "wegweiser", "--undo", code=1).err
    assert "There is no library" in indexed.run("tune", "kestrell", code=1).err
    assert "source must be" in indexed.run("tune", "kestrel", "--source", "links", code=1).err
    assert "50" in indexed.run("tune", "kestrel", "--queries", "3", code=2).err
    assert "--undo" in indexed.run("tune", "kestrel", "--undo", "--dry-run", code=2).err
